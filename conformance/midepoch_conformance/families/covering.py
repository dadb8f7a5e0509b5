"""Covering tables: few rows that contain every combination of some axes (pure)."""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Mapping, Sequence

__all__ = ["combinations", "cover", "uncovered"]

Row = Mapping[str, Hashable]
Combination = tuple[tuple[str, Hashable], ...]


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
        [numbers.setdefault(c, len(numbers)) for c in combinations(row, groups)] for row in rows
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


def combinations(row: Row, groups: Iterable[Sequence[str]]) -> list[Combination]:
    """Return the row's combination of each group of axes."""
    return [
        tuple((axis, row[axis]) for axis in group)
        for group in groups
        if all(axis in row for axis in group)
    ]


def uncovered(
    rows: Iterable[Row], chosen: Iterable[Row], groups: Sequence[Sequence[str]]
) -> set[Combination]:
    """Return the combinations that the rows contain and the chosen rows do not."""
    wanted = {c for row in rows for c in combinations(row, groups)}
    return wanted - {c for row in chosen for c in combinations(row, groups)}
