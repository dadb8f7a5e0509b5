"""Its network has seven rounds."""

from __future__ import annotations

import format_base as base

from midepoch.format import permutation

EXPECTED = "ORDER-4"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 4966}

permutation.ROUNDS = 7


class Adapter(base.Adapter):
    pass
