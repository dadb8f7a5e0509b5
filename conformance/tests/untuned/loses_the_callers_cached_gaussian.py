"""Puts the caller's NumPy stream back without the Gaussian that it had cached.

NumPy draws Gaussians in pairs and keeps the second. A program that has drawn one before a batch
gets another number after it than without the loader.
"""

from typing import Any

import numpy as np
from edited import edited

FAMILY = "streams"
BREAKS = ("SEED-6",)
EDITS = [
    (
        "lane/numpy_stream.py",
        """\
        state = _state(_rand) if SHORT else _rand.get_state(legacy=False)
        gauss = state["gauss"] if state["has_gauss"] else None
        return NumpyStream(_numpy.get_bit_generator(), gauss)
""",
        "        return NumpyStream(_numpy.get_bit_generator(), None)\n",
    ),
]


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    batches = iter(make(list(range(8)), 2, seed=1, collate_fn=list))
    np.random.seed(5)
    drawn = []
    for _ in range(4):
        drawn.append(float(np.random.standard_normal()))
        next(batches)
    return drawn


RIGHT = [0.44122748688504143, -0.33087015189408764, 2.43077118700778, -0.2520921296030769]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
