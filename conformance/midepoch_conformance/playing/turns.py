"""The turns of plays: several together, or one that is alone on the machine."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

__all__ = ["Turn", "Turns"]


class Turn:
    """One play's turn."""

    company = False
    """Whether another play ran at the same time."""


class Turns:
    """Gives plays their turns; shared by all benches of a check.

    A play that asks to be alone waits until the running plays have ended, and no other begins
    before it has ended. A turn must not be asked for inside a turn.

    Example:
        >>> turns = Turns()
        >>> with turns.turn(alone=True) as turn:
        ...     turn.company
        False
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: set[Turn] = set()
        self._alone = False
        self._waiting = 0

    @contextlib.contextmanager
    def turn(self, alone: bool = False) -> Iterator[Turn]:
        """Wait for a turn and take it."""
        mine = Turn()
        with self._changed:
            self._begin(mine, alone)
        try:
            yield mine
        finally:
            with self._changed:
                self._running.discard(mine)
                self._alone = False
                self._changed.notify_all()

    def _begin(self, mine: Turn, alone: bool) -> None:
        if alone:
            self._waiting += 1
            try:
                while self._running:
                    self._changed.wait()
            finally:
                self._waiting -= 1
                self._changed.notify_all()
            self._alone = True
        else:
            # A play that wants to be alone would wait for ever if others kept beginning.
            while self._alone or self._waiting:
                self._changed.wait()
        self._running.add(mine)
        if len(self._running) > 1:
            for turn in self._running:
                turn.company = True
