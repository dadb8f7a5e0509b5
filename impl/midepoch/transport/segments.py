"""Reused shared memory: a worker's pool of segments, and the main process's leases.

A segment is an anonymous memory file that both processes map. Its descriptor crosses once, and
both processes close it. A segment has no name that could be left behind, and vanishes with the
last process that maps it. The worker alone chooses a segment. The main process lends each filled
segment to a batch, and tells the worker when the last view of that batch is gone.

``mmap.mmap`` would keep a copy of the descriptor while the memory is mapped (Python 3.13 can omit
it), and a consumer that holds many batches would run out of descriptors.
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
"""Whether the system has memory files without a name; else the socket carries all batches."""

SMALLEST = 64 * 1024
"""Bytes of the smallest segment; each larger size is twice the one before."""

IDLE = 64
"""A free segment is dropped after so many other segments were taken."""

HELD = 256
"""Batches of one worker that the consumer may hold: the system limits the mappings."""

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
    """Return an array type whose instances take attributes; plain ``ctypes`` arrays do not."""
    return type("Lease", (ctypes.c_ubyte * size,), {})


class Mapping:
    """A memory file, mapped into this process until the last reference is gone.

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

        Every view of the buffer refers to this object, so it is gone when the last view is.
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
    """Return new zeroed memory, and a descriptor with which another process can map it.

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
    """Segments that no batch views any longer.

    The worker must not write the ``spoiled`` ones again: a fork of the main process may still view
    them.
    """

    usable: tuple[int, ...] = ()
    spoiled: tuple[int, ...] = ()


@dataclass(slots=True)
class Segment:
    """A segment in the worker."""

    number: int
    mapping: Mapping
    view: memoryview
    used: int
    """The pool's count of takes when this segment was taken."""

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.mapping.size

    @property
    def address(self) -> int:
        """Its address in this process's memory."""
        return self.mapping.address


def _kind(size: int) -> int:
    """Return the size of the segments that hold ``size`` bytes."""
    return max(SMALLEST, 1 << (size - 1).bit_length())


@dataclass(slots=True)
class Pool:
    """A worker's segments, and the free ones among them."""

    _segments: dict[int, Segment] = field(default_factory=dict)
    _free: dict[int, list[Segment]] = field(default_factory=dict)
    """By size, the newest at the end: its pages are in the processor's cache."""
    _made: int = 0
    _takes: int = 0
    _dropped: list[int] = field(default_factory=list)

    def take(self, size: int) -> tuple[Segment, int | None]:
        """Return a segment of at least ``size`` bytes; for a new one, also its descriptor.

        Raises:
            OSError: the system gives no more memory or descriptors.
        """
        free = self.take_free(size)
        return (free, None) if free is not None else self._make(_kind(size))

    def take_free(self, size: int) -> Segment | None:
        """Return a free segment of at least ``size`` bytes, or ``None``."""
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
        """Take back a segment that was not sent."""
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
        """Take back segments from the main process; drop the spoiled ones."""
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
        """Return the numbers of the segments dropped since the last call."""
        dropped, self._dropped = tuple(self._dropped), []
        return dropped


class Leases:
    """One worker's segments in the main process, and the batches that view them."""

    def __init__(self) -> None:
        self._mapped: dict[int, Mapping] = {}
        self._lent: dict[int, weakref.ref[Any]] = {}
        self._held: dict[int, int] = {}
        """Bytes of the batches that the consumer holds, by segment."""
        self._returned: deque[int] = deque()
        self._spoiled: set[int] = set()
        _ALL.add(self)

    def map(self, number: int, size: int, descriptor: int) -> None:
        """Map a segment that the worker made, and close its descriptor."""
        try:
            self._mapped[number] = Mapping(descriptor, size)
        finally:
            os.close(descriptor)

    def unmap(self, numbers: tuple[int, ...]) -> None:
        """Unmap segments that the worker dropped."""
        for number in numbers:
            del self._mapped[number]

    def lend(self, number: int) -> memoryview:
        """Return a segment's memory; the segment comes back when its last view is gone.

        Every view of a ``memoryview`` keeps its underlying object alive, also NumPy's views, which
        skip the ``memoryview`` itself. So the end of that object shows that no view is left.
        """
        lease = self._mapped[number].lease()
        self._lent[number] = weakref.ref(lease, lambda _: self._end(number))
        return memoryview(lease).cast("B")

    def _end(self, number: int) -> None:
        # Any thread may drop the last view at any moment, so these are single operations.
        self._lent.pop(number, None)
        self._held.pop(number, None)
        self._returned.append(number)

    def hold(self, number: int, size: int, limit: int) -> bool:
        """Note that the consumer holds a batch; return False if that exceeds ``limit`` bytes.

        Two batches are always allowed: a loop variable keeps the batch before the current one.
        """
        held = list(self._held.values())  # a copy: a view may go at any moment
        if len(held) > 1 and (sum(held) + size > limit or len(held) >= HELD):
            return False
        self._held[number] = size
        return True

    def take_returned(self) -> Returned:
        """Return the segments that became free since the last call."""
        if not self._returned:
            return _NONE
        numbers = [self._returned.popleft() for _ in range(len(self._returned))]
        if not self._spoiled:
            return Returned(tuple(numbers))
        spoiled = self._spoiled.intersection(numbers)
        self._spoiled -= spoiled
        return Returned(tuple(n for n in numbers if n not in spoiled), tuple(spoiled))

    def spoil(self) -> None:
        """Handle a fork: the child views the current batches, so nobody may overwrite them."""
        self._spoiled.update(list(self._lent))  # a copy, as above

    def close(self) -> None:
        """Unmap all segments; a segment that a batch views stays mapped as long as the batch."""
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


# Twice: before the fork returns, another thread may drop a view that the child still has.
os.register_at_fork(before=_forked, after_in_parent=_forked, after_in_child=_in_fork)
