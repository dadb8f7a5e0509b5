"""Seeds NumPy by the low half of its word."""

from __future__ import annotations

import format_base as base
import numpy

from midepoch import streams
from midepoch.seeds import BatchSeeds

EXPECTED = "SEED-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 2, "samples": 1}

right = streams.seed


def half(seeds: BatchSeeds) -> None:
    right(seeds)
    numpy.random.seed(seeds.numpy[1])


streams.seed = half


class Adapter(base.Adapter):
    pass
