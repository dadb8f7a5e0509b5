"""Gives the caller's NumPy stream back without the Gaussian that it had in store.

A model that adds Gaussian noise draws other numbers as soon as a loader is used beside it.
"""

from typing import Any

import numpy
from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-6",)
EDITS = [
    ("lane/numpy_stream.py", "if stream.gauss is None:", "if stream is not None:"),
]


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    life = plan.open().begin()
    drawn = []
    for batch in (False, True):
        numpy.random.seed(1)
        first = numpy.random.standard_normal()
        if batch:
            life.take(1)
        drawn.append((first, numpy.random.standard_normal()))
    return drawn[1], drawn[0]


Adapter = edited(EDITS)
