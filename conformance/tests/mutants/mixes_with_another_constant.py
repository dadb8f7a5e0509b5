"""Its mixing function has one bit of a constant wrong."""

from __future__ import annotations

import format_base as base

from midepoch.format import permutation

EXPECTED = "ORDER-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 2, "samples": 2}

permutation._M2 ^= 1 << 7


class Adapter(base.Adapter):
    pass
