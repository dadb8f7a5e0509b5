"""The workers that have ended, while others still make batches that come before theirs."""

from __future__ import annotations

import time

from midepoch.errors import WorkerDiedError

__all__ = ["PATIENCE", "Losses"]

PATIENCE = 10.0
"""Seconds without a reply after which the batches of other workers are no longer waited for.

They may never come: their workers may wait for the one that has ended."""


class Losses:
    """The workers that have ended and are not replaced, each with its error.

    >>> losses = Losses()
    >>> losses.add(1, WorkerDiedError(1, 4242, -9))
    >>> losses.begin()
    >>> losses.check(awaited=0)
    >>> losses.check(awaited=1)
    Traceback (most recent call last):
    midepoch.errors.WorkerDiedError: DataLoader worker (pid 4242) is killed by signal: Killed. ...
    """

    def __init__(self) -> None:
        self._errors: dict[int, WorkerDiedError] = {}
        self._since = 0.0

    def __contains__(self, worker: int) -> bool:
        return worker in self._errors

    def add(self, worker: int, error: WorkerDiedError) -> None:
        """Note that a worker has ended."""
        self._errors[worker] = error
        self.begin()

    def clear(self) -> None:
        """Forget all: a new epoch looks at its workers again."""
        self._errors.clear()

    def begin(self) -> None:
        """Start the clock: a wait for a reply begins."""
        self._since = time.monotonic()

    def left(self, seconds: float | None) -> float | None:
        """Return how long to wait for a reply, at most ``seconds``."""
        if not self._errors:
            return seconds
        left = max(0.0, self._since + PATIENCE - time.monotonic())
        return left if seconds is None else min(left, seconds)

    def check(self, awaited: int | None, *, late: bool = False) -> None:
        """Raise if the reply that comes next was to come from a worker that has ended.

        ``awaited``: the worker of that reply; ``None``: any. ``late``: no reply has come within
        the loader's timeout.

        Raises:
            WorkerDiedError: it was, or the worker of that reply has been silent for too long.
        """
        if not self._errors:
            return
        late = late or time.monotonic() - self._since >= PATIENCE
        if awaited is not None and awaited not in self._errors and not late:
            return
        number = next(iter(self._errors)) if awaited not in self._errors else awaited
        # A copy: the traceback of the raised one must not keep this object alive, nor it that.
        raise WorkerDiedError(*self._errors[number].args) from self._errors[number].__cause__
