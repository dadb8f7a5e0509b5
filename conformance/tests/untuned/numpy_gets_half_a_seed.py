"""Seeds a batch's private NumPy generator with the lower half of its seed.

The numbers differ from those that the specification publishes, and collide a little earlier.
"""

from typing import Any

import numpy
from edited import edited

FAMILY = "random numbers"
BREAKS = ("SEED-7",)
EDITS = [
    (
        "lane/batch_info.py",
        "np.random.PCG64(self.seed)",
        "np.random.PCG64(self.seed & 0xFFFF_FFFF)",
    ),
]


def shows(play: Any) -> Any:
    from midepoch.lane.batch_info import BatchInfo

    info = BatchInfo(2, 5, 0, 4247642575230746406)
    right = numpy.random.Generator(numpy.random.PCG64(4247642575230746406))
    return float(info.numpy.random()), float(right.random())


Adapter = edited(EDITS)
