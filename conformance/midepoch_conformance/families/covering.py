"""Covering tables: few rows that contain every combination of some axes (pure)."""

from __future__ import annotations

import heapq
import itertools
import operator
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

__all__ = ["combinations", "cover", "uncovered"]

Row = Mapping[str, Hashable]
Combination = tuple[int, Hashable]
"""The number of a group of axes, and a row's values on them."""


def cover(rows: Sequence[Row], groups: Sequence[Sequence[str]]) -> list[int]:
    """Choose rows that contain every combination that any row contains.

    Greedy and deterministic: the row that adds most comes first, and of equal rows the earliest.
    The caller leaves impossible rows out, so only possible combinations count.

    Args:
        rows: all possible rows, each a mapping from axis to value.
        groups: the axes whose values are combined, group by group; a row counts only for the
            groups whose axes it has.

    Returns:
        The chosen rows' indices, in ascending order.

    Example:
        >>> rows = [{"a": a, "b": b, "c": c} for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        >>> len(cover(rows, [("a", "b"), ("a", "c"), ("b", "c")]))
        4
    """
    numbers: dict[Combination, int] = {}
    held = [
        [numbers.setdefault(c, len(numbers)) for c in found] for found in combinations(rows, groups)
    ]
    left = set(range(len(numbers)))
    # A row adds less once other rows are chosen, so an old count is an upper bound.
    queue = [(-len(own), i) for i, own in enumerate(held)]
    heapq.heapify(queue)
    chosen = []
    while left:
        _, i = heapq.heappop(queue)
        gain = sum(1 for number in held[i] if number in left)
        if queue and (-gain, i) > queue[0]:
            heapq.heappush(queue, (-gain, i))
            continue
        chosen.append(i)
        left.difference_update(held[i])
    return sorted(chosen)


def combinations(
    rows: Iterable[Row], groups: Sequence[Sequence[str]]
) -> Iterator[list[Combination]]:
    """Yield each row's combination of each group whose axes the row has."""
    readers = [(n, set(group), operator.itemgetter(*group)) for n, group in enumerate(groups)]
    # There are many rows, but few sets of axes.
    of_axes: dict[tuple[str, ...], list[tuple[int, operator.itemgetter[Hashable]]]] = {}
    for row in rows:
        axes = tuple(row)
        if axes not in of_axes:
            of_axes[axes] = [(n, values) for n, needed, values in readers if needed <= row.keys()]
        yield [(n, values(row)) for n, values in of_axes[axes]]


def uncovered(
    rows: Iterable[Row], chosen: Iterable[Row], groups: Sequence[Sequence[str]]
) -> set[Combination]:
    """Return the combinations that the rows contain and the chosen rows do not."""
    wanted = set(itertools.chain.from_iterable(combinations(rows, groups)))
    return wanted.difference(*combinations(chosen, groups))
