"""Shared memory that is used again and again: a worker's pool, and the main process's leases.

A segment is an anonymous memory file that both processes map. Its descriptor crosses once, and
both close it: a segment has no name that could be left behind, and vanishes with the last
process that maps it. The worker alone decides which segment is used; the main process lends
each filled one to a batch, and tells the worker when the last view of that batch is gone.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import weakref
from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["AVAILABLE", "Leases", "Mapping", "Pool", "Returned", "Segment", "anonymous"]

AVAILABLE = hasattr(os, "memfd_create")
"""Memory files without a name are there; elsewhere everything goes through the socket."""

SMALLEST = 64 * 1024
"""Bytes of the smallest segment; each larger kind is twice the one before."""

IDLE = 64
"""A free segment is dropped when others were taken so many times since it was."""

HELD = 256
"""Batches of one worker that the consumer may hold: the system bounds what can be mapped."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_int,
    ctypes.c_long,
)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)

_FAILED = ctypes.c_void_p(-1).value


@functools.cache
def _array_type(size: int) -> Any:
    """Return an array type that also takes attributes, as ``ctypes``' own do not."""
    return type("Lease", (ctypes.c_ubyte * size,), {})


class Mapping:
    """An open memory file in this process's memory, until nothing refers to it any more.

    Raises:
        OSError: the system gives no more memory.
    """

    def __init__(self, descriptor: int, size: int) -> None:
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        address = _libc.mmap(None, size, protection, mmap.MAP_SHARED, descriptor, 0)
        if address == _FAILED:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        self.address: int = address
        self.size = size
        self._array_type = _array_type(size)

    def lease(self) -> Any:
        """Return a new object whose buffer is this memory, and which keeps it mapped.

        All that views the buffer refers to that object: it is gone when the last view is.
        """
        lease = self._array_type.from_address(self.address)
        lease.mapping = self
        return lease

    def view(self) -> memoryview:
        """Return the memory, under a lease of its own."""
        return memoryview(self.lease()).cast("B")

    def __del__(self) -> None:
        address = getattr(self, "address", None)
        if address is not None:
            _libc.munmap(address, self.size)


def anonymous(size: int) -> tuple[Mapping, int]:
    """Return new memory, zeros, and a descriptor by which another process can map it.

    Raises:
        OSError: the system gives no more memory or descriptors.
    """
    descriptor = os.memfd_create("midepoch", os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
        return Mapping(descriptor, size), descriptor
    except BaseException:
        os.close(descriptor)
        raise


class Returned(NamedTuple):
    """Segments that no batch views any more.

    ``spoiled`` ones must not be written again: a fork of the main process may still see them.
    """

    usable: tuple[int, ...] = ()
    spoiled: tuple[int, ...] = ()


@dataclass(slots=True)
class Segment:
    """A segment as the worker sees it."""

    number: int
    mapping: Mapping
    view: memoryview
    used: int
    """How many segments had been taken when this one was."""

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.mapping.size

    @property
    def address(self) -> int:
        """Where it begins in this process's memory."""
        return self.mapping.address


def _kind(size: int) -> int:
    """Return the size of the segments in which ``size`` bytes go."""
    return max(SMALLEST, 1 << (size - 1).bit_length())


@dataclass(slots=True)
class Pool:
    """The segments of a worker, and which of them are free."""

    _segments: dict[int, Segment] = field(default_factory=dict)
    _free: dict[int, list[Segment]] = field(default_factory=dict)
    """By size, the last one used at the end: its pages are in the processor's cache."""
    _made: int = 0
    _takes: int = 0
    _dropped: list[int] = field(default_factory=list)

    def take(self, size: int) -> tuple[Segment, int | None]:
        """Return a segment of at least ``size`` bytes; for a new one, a descriptor to hand over.

        Raises:
            OSError: the system gives no more memory or descriptors.
        """
        free = self.take_free(size)
        return (free, None) if free is not None else self._make(_kind(size))

    def take_free(self, size: int) -> Segment | None:
        """Return a free segment of at least ``size`` bytes, or ``None`` where there is none."""
        self._takes += 1
        if self._takes % IDLE == 0:
            self._drop_idle()
        free = self._free.get(_kind(size))
        if not free:
            return None
        segment = free.pop()
        segment.used = self._takes
        return segment

    def put_back(self, segment: Segment, *, usable: bool) -> None:
        """Take a segment back that did not leave this process."""
        if usable:
            self._free.setdefault(segment.size, []).append(segment)
        else:
            self._drop(segment.number)

    def _make(self, size: int) -> tuple[Segment, int]:
        mapping, descriptor = anonymous(size)
        self._made += 1
        segment = Segment(self._made, mapping, mapping.view(), self._takes)
        self._segments[segment.number] = segment
        return segment, descriptor

    def take_back(self, returned: Returned) -> None:
        """Note that segments are free again, or not to be used again."""
        for number in returned.usable:
            segment = self._segments[number]
            self._free.setdefault(segment.size, []).append(segment)
        for number in returned.spoiled:
            self._drop(number)

    def _drop_idle(self) -> None:
        for free in self._free.values():
            while free and self._takes - free[0].used >= IDLE:
                self._drop(free.pop(0).number)

    def _drop(self, number: int) -> None:
        del self._segments[number]
        self._dropped.append(number)

    def dropped(self) -> tuple[int, ...]:
        """Return the segments that were dropped since the last call."""
        dropped, self._dropped = tuple(self._dropped), []
        return dropped


class Leases:
    """One worker's segments as the main process sees them, and the batches that view them."""

    def __init__(self) -> None:
        self._mapped: dict[int, Mapping] = {}
        self._lent: dict[int, weakref.ref[Any]] = {}
        self._held: dict[int, int] = {}
        """Bytes of the batches that were handed to the consumer."""
        self._returned: deque[int] = deque()
        self._spoiled: set[int] = set()
        _ALL.add(self)

    def map(self, number: int, size: int, descriptor: int) -> None:
        """Map a segment that the worker made."""
        try:
            self._mapped[number] = Mapping(descriptor, size)
        finally:
            os.close(descriptor)

    def unmap(self, numbers: tuple[int, ...]) -> None:
        """Forget segments that the worker dropped."""
        for number in numbers:
            del self._mapped[number]

    def lend(self, number: int) -> memoryview:
        """Return a segment's memory; it is returned when no view of that is left.

        All views of a ``memoryview`` keep the object alive that it was made of, also those that
        skip the ``memoryview`` itself, as NumPy's do. So that object tells when the last is gone.
        """
        lease = self._mapped[number].lease()
        self._lent[number] = weakref.ref(lease, lambda _: self._end(number))
        return memoryview(lease).cast("B")

    def _end(self, number: int) -> None:
        # In whichever thread drops the last view, at any moment: single operations only.
        self._lent.pop(number, None)
        self._held.pop(number, None)
        self._returned.append(number)

    def hold(self, number: int, size: int, limit: int) -> bool:
        """Note that a batch goes to the consumer, unless that makes it hold more than ``limit``.

        The batch before the current one may always be held: loops do that without meaning to.
        """
        held = list(self._held.values())  # at once: a view may go at any moment
        if len(held) > 1 and (sum(held) + size > limit or len(held) >= HELD):
            return False
        self._held[number] = size
        return True

    def take_returned(self) -> Returned:
        """Return the segments that came back since the last call."""
        if not self._returned:
            return _NONE
        numbers = [self._returned.popleft() for _ in range(len(self._returned))]
        if not self._spoiled:
            return Returned(tuple(numbers))
        spoiled = self._spoiled.intersection(numbers)
        self._spoiled -= spoiled
        return Returned(tuple(n for n in numbers if n not in spoiled), tuple(spoiled))

    def spoil(self) -> None:
        """Note a fork: its child sees the batches of now, so these stay as they are."""
        self._spoiled.update(list(self._lent))  # at once, as above

    def close(self) -> None:
        """Forget all segments; those that batches view live on with these."""
        self._lent.clear()
        self._mapped.clear()


_NONE = Returned()

_ALL: weakref.WeakSet[Leases] = weakref.WeakSet()


def _forked() -> None:
    for leases in list(_ALL):
        leases.spoil()


def _in_fork() -> None:
    for leases in list(_ALL):
        leases.close()


# Twice: a view that the child sees may go, in another thread, before the fork has returned.
os.register_at_fork(before=_forked, after_in_parent=_forked, after_in_child=_in_fork)
