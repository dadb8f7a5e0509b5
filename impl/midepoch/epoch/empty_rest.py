"""The iterator of a loaded position that skips an empty rest (``empty_rest="skip"``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from midepoch.epoch.iterator import EpochIterator

__all__ = ["SkippingRest"]


class SkippingRest(Iterator[Any]):
    """Yields the rest of an epoch; where nothing is left of it, the next epoch (EPOCH-3).

    Whether anything is left is found out at the first ``next()``, as the end of an epoch is: of
    a user's sampler or a stream nobody knows it before.
    """

    def __init__(
        self, rest: EpochIterator, following: Callable[[EpochIterator], EpochIterator | None]
    ) -> None:
        """``following`` opens the epoch after ``rest``, or returns ``None`` where another did."""
        self._current = rest
        self._following = following
        self._asked = False

    def __len__(self) -> int:
        return len(self._current)

    def __next__(self) -> Any:
        if self._asked:
            return next(self._current)
        self._asked = True
        try:
            return next(self._current)
        except StopIteration:
            following = self._following(self._current)
            if following is None:
                raise
        self._current = following
        return next(following)

    def _shutdown_workers(self) -> None:
        """Stop the workers; programs written for torch's iterators call this."""
        self._current._shutdown_workers()
