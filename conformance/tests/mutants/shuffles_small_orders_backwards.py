"""Delivers the small orders from their end."""

from __future__ import annotations

import format_base as base

from midepoch import order

EXPECTED = "ORDER-3"
LARGEST = {"workers": 0, "sessions": 1, "steps": 6, "samples": 2}

right = order._fisher_yates


def backwards(n: int, key: int) -> list[int]:
    return right(n, key)[::-1]


order._fisher_yates = backwards


class Adapter(base.Adapter):
    pass
