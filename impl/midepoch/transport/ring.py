"""A queue of messages in memory that two processes share: one puts, the other gets.

Nobody calls the system: it is for those who are both awake. Who finds nothing says so before it
goes to sleep elsewhere, and who puts something then learns that it has to wake the other.

Each word has one writer. What is written is seen by the other in the order in which it was
written, and a word is not read before what was written ahead of it is seen: see ``fence``.
"""

from __future__ import annotations

import errno
import os
import platform
import threading

__all__ = ["AVAILABLE", "LONGEST", "SIZE", "Ring", "fence"]

_HEAD, _TAIL, _ASLEEP = 0, 16, 32
"""Words, each in a line of the processor's cache of its own."""

_HEADER = 3 * 128
_ROOM = 64 * 1024
SIZE = _HEADER + _ROOM
"""Bytes of memory that a ring takes, zeros at first."""

_MARKS = 4 * 1024
"""Bytes that are kept for marks."""

LONGEST = 16 * 1024
"""Bytes of the longest message that goes this way; what is longer would only be copied twice."""

_WORD = 8

_CLOSED = (1 << 64) - 1
"""In the place of the number of a sleep: nobody will get any more."""

_MACHINE = platform.machine().lower()

_IN_ORDER = _MACHINE in {"x86_64", "amd64"}
"""Whether the processor by itself lets others see writes, and does its reads, in their order."""

AVAILABLE = _IN_ORDER or _MACHINE in {"aarch64", "arm64"}
"""Whether ``fence`` is known to do on this processor what it says."""


def fence() -> None:
    """Let what was written before be seen by others before anything is read or written after.

    Python has no fences. But what comes before a lock is given back is seen before what follows
    its next taking: x86 does both by instructions that are fences, and 64-bit ARM keeps the second
    behind the first.
    """
    lock = threading.Lock()  # of this call: one that is shared could be held at a fork
    with lock:
        pass
    with lock:
        pass


class Ring:
    """One end of the queue, over the memory of both.

    A mark, an entry without a content, says that the next message comes another way: so the
    queue keeps the order of all.
    """

    __slots__ = ("_at", "_data", "_lengths", "_other", "_ticket", "_words")

    def __init__(self, memory: memoryview) -> None:
        self._words = memory[:_HEADER].cast("Q")
        self._data = memory[_HEADER:SIZE]
        self._lengths = self._data.cast("Q")
        self._at = 0
        """Bytes that this end has put, or got, in all."""
        self._other = 0
        """Who puts: bytes that the other end had got when it was last looked at."""
        self._ticket = 0
        """Of the latest sleep: who gets gives each a number, who puts wakes from each once."""

    # Who puts

    def put(self, message: bytes, tail: bytes | memoryview = b"") -> bool:
        """Put a message, the two parts in one; return False where it has no room, or is empty."""
        size = len(message)
        length = size + len(tail)
        if not 0 < length <= LONGEST or not self._has_room(length, _ROOM - _MARKS):
            return False
        start = self._at % _ROOM
        self._lengths[start // _WORD] = length
        start += _WORD
        if start + length <= _ROOM:
            self._data[start : start + size] = message
            if length > size:
                self._data[start + size : start + length] = tail
        else:
            whole, first = message + bytes(tail), _ROOM - start
            self._data[start:] = whole[:first]
            self._data[: length - first] = whole[first:]
        self._publish(length)
        return True

    def mark(self) -> None:
        """Put a mark.

        Raises:
            OSError: there are more marks than any number of messages under way explains.
        """
        if not self._has_room(0, _ROOM):
            raise OSError("the other process does not read its messages")
        self._lengths[self._at % _ROOM // _WORD] = 0
        self._publish(0)

    def _has_room(self, length: int, room: int) -> bool:
        end = _after(self._at, length)
        if end - self._other <= room:
            return True
        self._other = self._words[_TAIL]
        if not _IN_ORDER:
            fence()
        return end - self._other <= room

    def _publish(self, length: int) -> None:
        self._at = _after(self._at, length)
        if not _IN_ORDER:
            fence()
        self._words[_HEAD] = self._at

    def to_wake(self) -> bool:
        """Tell, once for each sleep, whether the other sleeps; after something was put.

        Raises:
            BrokenPipeError: the other end gets nothing any more.
        """
        fence()  # no processor does a read after a write before it by itself
        ticket = self._words[_ASLEEP]
        if ticket in (0, self._ticket):
            return False
        if ticket == _CLOSED:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        self._ticket = ticket
        return True

    # Who gets

    @property
    def ready(self) -> bool:
        """Whether something is there."""
        return self._words[_HEAD] != self._at

    def get(self) -> bytes | None:
        """Return the next message, ``b""`` for a mark, or ``None`` where nothing is there."""
        if self._words[_HEAD] == self._at:
            return None
        if not _IN_ORDER:
            fence()
        start = self._at % _ROOM
        length = self._lengths[start // _WORD]
        start += _WORD
        message = self._data[start : start + length].tobytes()
        if start + length > _ROOM:
            message += self._data[: start + length - _ROOM].tobytes()
        self._at = _after(self._at, length)
        if not _IN_ORDER:
            fence()
        self._words[_TAIL] = self._at
        return message

    def sleep(self) -> None:
        """Say that this process goes to sleep, unless after a ``fence`` something is there."""
        self._ticket += 1
        self._words[_ASLEEP] = self._ticket

    def awake(self) -> None:
        """Say that this process is awake."""
        self._words[_ASLEEP] = 0

    def close(self) -> None:
        """Say that this process gets nothing any more."""
        self._words[_ASLEEP] = _CLOSED


def _after(at: int, length: int) -> int:
    """Return where the entry ends that begins at ``at``: entries are whole words."""
    return at + _WORD + (length + _WORD - 1) // _WORD * _WORD
