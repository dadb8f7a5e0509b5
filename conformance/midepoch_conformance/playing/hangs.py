"""The time limit of plays, and the hangs that are known; shared by all benches of a check."""

from __future__ import annotations

import threading

from midepoch_conformance.case.trace import Fault
from midepoch_conformance.host.system.stacks import signature

__all__ = ["Hangs"]


class Hangs:
    """The time limit of plays, and the places at which plays are known to hang.

    Args:
        timeout: the limit that the user set, in seconds; None: it follows from the smoke run.
    """

    LEAST = 60.0
    """The least limit in seconds that follows from a smoke run."""

    FACTOR = 30.0
    """The limit, as a multiple of the smoke run's time. The smoke run delivers 4 samples; a long
    session delivers some 30 times as many."""

    SMOKE = 120.0
    """The seconds that the smoke run itself has."""

    SURE = 5.0
    """The limit of a play that decides whether a hang is one, as a multiple of the limit."""

    SHORT = 5.0
    """A first play has the limit divided by this; no verdict depends on it. By 5, loaders that wait
    twice for a lost worker, five seconds each time as PyTorch's do, are not played again alone."""

    PLACES = 8
    """The most places that are looked for: beyond these, a late play is not judged."""

    def __init__(self, timeout: float | None = None) -> None:
        self._lock = threading.Lock()
        self._set = timeout is not None
        self.limit = self.LEAST if timeout is None else timeout
        """The seconds that a session has."""
        self.polls = False
        """Whether a case polls without an end for a worker that is dead."""
        self._needed = 0.0
        self._known: dict[object, bool] = {}
        self._proven: dict[str, str] = {}
        self._failed: set[str] = set()

    @property
    def smoke(self) -> float:
        """The seconds that the smoke run has."""
        return self.limit if self._set else max(self.SMOKE, self.limit)

    @property
    def first(self) -> float:
        """The seconds that a session has in the first play of a case."""
        return max(self.limit / self.SHORT, 2 * self._needed)

    @property
    def full(self) -> bool:
        """Whether no further place is looked for."""
        return len(self._known) >= self.PLACES

    def follow(self, seconds: float) -> None:
        """Set the limit from the smoke run's time, unless the user set it."""
        if not self._set:
            self.limit = max(self.LEAST, self.FACTOR * seconds)

    def raise_to(self, seconds: float) -> None:
        """Give all further plays as much time as a play needed that was late at first."""
        with self._lock:
            self._needed = max(self._needed, seconds)
            self.limit = max(self.limit, seconds)

    def place(self, fault: Fault) -> object:
        """Return what tells the place of a late play; where no stack is known, its phase."""
        return fault.at, signature(fault.traceback)

    def note(self, fault: Fault, busy: bool) -> None:
        """Note the place of a hang, or of a play that is busy for ever."""
        with self._lock:
            self._known[self.place(fault)] = busy

    def known(self, fault: Fault) -> bool | None:
        """Return whether plays are busy at a late play's place; None if it is not known."""
        return self._known.get(self.place(fault))

    def prove(self, case: str, stacks: str) -> None:
        """Note that the case with this id hangs, and where its processes stood."""
        with self._lock:
            self._proven[case] = stacks

    def stacks(self, case: str) -> str | None:
        """Return where the processes of a case stood whose hang has a proof of its own, or None."""
        return self._proven.get(case)

    def fail(self, case: str, failed: set[str]) -> bool:
        """Note what a case fails that hangs; return whether each of it rests on a proven hang.

        Args:
            case: the case's id.
            failed: the requirements that it fails.
        """
        with self._lock:
            if case in self._proven:
                self._failed |= failed
            return failed <= self._failed
