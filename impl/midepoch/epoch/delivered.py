"""Which batches of an epoch were delivered, also where they come out of order. Pure."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Delivered"]


class Delivered:
    """The delivered batches of an epoch: all below a low-water mark, and some above it (UNORD-1).

    >>> delivered = Delivered(2)
    >>> delivered.add(4)
    >>> delivered.add(3)
    >>> delivered.low, delivered.reach, delivered.count, delivered.ahead()
    (2, 5, 4, (3, 4))
    >>> delivered.add(2)
    >>> delivered.low, delivered.ahead()
    (5, ())
    """

    def __init__(self, count: int, ahead: Iterable[int] = ()) -> None:
        self._ahead = set(ahead)
        self.count = count
        self.low = count - len(self._ahead)
        """The first batch that was not delivered."""
        self.reach = max(self._ahead, default=self.low - 1) + 1
        """One more than the last batch that was delivered."""

    def add(self, index: int) -> None:
        """Note that batch ``index`` was delivered."""
        self.count += 1
        if index >= self.reach:
            self.reach = index + 1
        if index != self.low:
            self._ahead.add(index)
            return
        self.low += 1
        while self.low in self._ahead:
            self._ahead.remove(self.low)
            self.low += 1

    def __contains__(self, index: int) -> bool:
        return index < self.low or index in self._ahead

    def ahead(self) -> tuple[int, ...]:
        """Return the batches above the low-water mark, in increasing order."""
        return tuple(sorted(self._ahead))
