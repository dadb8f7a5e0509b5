"""Delivers the small orders from their end."""

from __future__ import annotations

import format_base as base

from midepoch.format import permutation

EXPECTED = "ORDER-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 2}

right = permutation._fisher_yates


def backwards(n: int, key: int) -> list[int]:
    return right(n, key)[::-1]


permutation._fisher_yates = backwards


class Adapter(base.Adapter):
    pass
