"""The numbers that samples draw from random streams which are not their dataset's.

The script of a failure holds this module as far as the failure needs it, as it does ``rows.py``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

__all__ = ["DRAWS", "MIXED"]


def _python(rng: object) -> float:
    return random.random()


def _numpy(rng: object) -> float:
    import numpy

    return float(numpy.random.random())


def _torch(rng: object) -> float:
    import torch

    return float(torch.rand(()).item())


def _double(rng: object) -> float:
    import torch

    return float(torch.rand((), dtype=torch.float64).item())


def _own(rng: Callable[[], float] | None) -> float:
    if rng is None:
        raise ValueError(
            "this workload draws from the loader's own source: row(i, draw) and drawn(draw) need it"
        )
    return float(rng())


DRAWS: dict[str, Callable[[Any], float]] = {
    "python": _python,
    "numpy": _numpy,
    "torch": _torch,
    "torch double": _double,
    "own": _own,
}
"""How a sample draws from a stream that is not its dataset's."""


def _mixed_python(rng: object) -> float:
    return random.gauss(0.0, 1.0) + random.getrandbits(32) / 2**32


def _mixed_numpy(rng: object) -> float:
    import numpy

    return float(numpy.random.normal()) + int(numpy.random.randint(2**32, dtype="uint32")) / 2**32


def _mixed_torch(rng: object) -> float:
    import torch

    return float(torch.randn(()).item()) + int(torch.randint(2**32, ()).item()) / 2**32


MIXED: dict[str, Callable[[Any], float]] = {
    "python": _mixed_python,
    "numpy": _mixed_numpy,
    "torch": _mixed_torch,
    "own": _own,
}
"""The same with a normal number, which comes in pairs of which one is kept, and with 32 bits."""
