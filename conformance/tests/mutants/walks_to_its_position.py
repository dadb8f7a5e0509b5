"""Walks through an order to the position that it resumes from."""

from __future__ import annotations

import collections

import format_base as base

from midepoch.order import Permutation

EXPECTED = "ORDER-5"

indices = Permutation.indices


def walking(self: Permutation, start: int, stop: int) -> list[int]:
    collections.deque(range(start), maxlen=0)
    return indices(self, start, stop)


Permutation.indices = walking


class Adapter(base.Adapter):
    pass
