"""Rounds: the contenders of a case alternate, so a disturbance of the machine meets them all."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, Protocol

__all__ = ["Entrant", "interleaved"]


class Entrant(Protocol):
    """A contender, ready to be measured."""

    def round(self) -> float:
        """Measure once."""

    def close(self) -> None:
        """Stop all that it started."""


def interleaved(
    entrants: dict[str, Entrant], rounds: int, failed: Callable[[str, BaseException], Any]
) -> dict[str, Sequence[float]]:
    """Measure all entrants round by round, the order of each round reversed in the next.

    An entrant that raises is closed and passed to ``failed``; the others continue.
    """
    found: dict[str, list[float]] = {name: [] for name in entrants}
    # Objects that exist now stay: collections in a round only look at the round's own objects.
    gc.collect()
    gc.freeze()
    for number in range(rounds):
        names = list(entrants)
        for name in names if number % 2 == 0 else reversed(names):
            try:
                found[name].append(entrants[name].round())
            except Exception as error:
                failed(name, error)
                del found[name]
                entrants.pop(name).close()
    return dict(found)
