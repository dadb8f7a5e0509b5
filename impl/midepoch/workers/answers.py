"""What threads hand to the one that waits for it."""

from __future__ import annotations

import os
import select
from collections import deque
from contextlib import suppress
from typing import Generic, TypeVar

__all__ = ["Answers"]

T = TypeVar("T")


class Answers(Generic[T]):
    """A queue from many threads to one, which is woken through a pipe.

    The lock inside ``queue.SimpleQueue`` is released while the interpreter's own is still held:
    the woken thread would sleep again at once, to wait for that. A write lets go of it first.

    >>> answers = Answers()
    >>> answers.put(3)
    >>> answers.ring()
    >>> answers.take(), answers.take()
    (3, None)
    >>> answers.close()
    """

    def __init__(self) -> None:
        """Raises ``OSError`` where no file descriptors are left."""
        self._arrived: deque[T] = deque()
        self._waiting = False
        self._pipe: tuple[int, ...] = os.pipe()
        self._poll = select.poll()
        self._poll.register(self._pipe[0], select.POLLIN)

    def put(self, answer: T) -> None:
        """Add an answer; whoever waits is woken by ``ring``."""
        self._arrived.append(answer)

    def ring(self) -> None:
        """Wake the one that waits.

        Apart from ``put``, whose caller's frame would hold on to a batch that is the consumer's.
        """
        if self._waiting:
            self._waiting = False
            os.write(self._pipe[1], b"\0")

    def take(self) -> T | None:
        """Return the oldest answer, or ``None``."""
        return self._arrived.popleft() if self._arrived else None

    def wait(self, seconds: float | None) -> None:
        """Wait until something arrives, at most so long; may return early."""
        self._waiting = True  # before the look: what comes after that rings
        if not self._arrived and self._poll.poll(None if seconds is None else 1000 * seconds):
            os.read(self._pipe[0], 64)
        self._waiting = False

    def close(self) -> None:
        """Close the pipe; no thread may put anything any more. May be called again."""
        pipe, self._pipe = self._pipe, ()
        for descriptor in pipe:
            os.close(descriptor)

    def __del__(self) -> None:
        with suppress(AttributeError):  # where there was no pipe to be had
            self.close()
