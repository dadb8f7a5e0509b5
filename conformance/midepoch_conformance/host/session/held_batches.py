"""The delivered batches of a session, held to see whether they change (standard library only).

Arrays and tensors are recognised by their methods, so neither torch nor numpy is imported.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from midepoch_conformance.case.trace import WRITTEN, Batch

__all__ = ["HeldBatches"]

_FEW = 8
"""How many batches of a user's own loader are held at each end; their size is unknown."""


class HeldBatches:
    """Holds the delivered batches as they are, with the rows that were read from them.

    Args:
        read: reads the rows of a delivered batch.
        few: whether only the first and the latest few batches are held.
    """

    def __init__(self, read: Callable[[Any], Batch], few: bool = False) -> None:
        self._read, self._few = read, few
        self._held: list[tuple[int, Any, Batch]] = []
        self._count = 0

    def add(self, rows: Any, batch: Batch) -> None:
        """Hold ``rows``, from which ``batch`` was read, unless they can be read only once."""
        number, self._count = self._count, self._count + 1
        if _is_read_once(rows):
            return
        if self._few and len(self._held) == 2 * _FEW:
            del self._held[_FEW]
        self._held.append((number, rows, batch))

    def changed(self) -> list[list[Any]]:
        """Return ``[number, batch before, batch now]`` for each batch that has changed.

        The numbers count the session's batches from 0. The next call compares with the rows of now.
        """
        found = []
        for place, (number, rows, batch) in enumerate(self._held):
            now = self._read(rows)
            if repr(now) != repr(batch):  # a NaN equals itself
                found.append([number, batch, now])
                self._held[place] = (number, rows, now)
        return found

    def overwrite(self) -> None:
        """Write another number into every place of the held batches that can be written."""
        self._held = [(number, rows, self._written(rows)) for number, rows, _ in self._held]

    def _written(self, rows: Any) -> Batch:
        _write(rows)
        return self._read(rows)

    def drop(self) -> None:
        """Drop all held batches."""
        self._held.clear()


def _is_read_once(rows: Any) -> bool:
    """Return whether rows, or one of them, are an iterator: a second reading would find nothing."""
    if hasattr(rows, "__next__"):
        return True
    return isinstance(rows, (list, tuple)) and any(hasattr(row, "__next__") for row in rows)


def _write(node: Any) -> None:
    """Write into an array, a tensor or lists of them; read-only values stay as they are."""
    fill = getattr(node, "fill_", None) or getattr(node, "fill", None)
    if fill is not None:
        with contextlib.suppress(RuntimeError, ValueError):
            fill(WRITTEN)
    elif isinstance(node, list):
        for place, item in enumerate(node):
            if hasattr(item, "__len__"):
                _write(item)
            else:
                node[place] = WRITTEN
    elif isinstance(node, tuple):
        for item in node:
            _write(item)
