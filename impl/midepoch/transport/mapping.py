"""Shared memory that takes no descriptor once it is mapped.

``mmap.mmap`` keeps a copy of the descriptor for as long as the memory is mapped (from Python 3.13
on it can be told not to), and a consumer that holds many batches would run out of them.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from typing import Any

__all__ = ["AVAILABLE", "Mapping", "anonymous"]

AVAILABLE = hasattr(os, "memfd_create")
"""Memory files without a name are there; elsewhere everything goes through the socket."""

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
def _kind(size: int) -> Any:
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
        self._kind = _kind(size)

    def lease(self) -> Any:
        """Return a new object whose buffer is this memory, and which keeps it mapped.

        All that views the buffer refers to that object: it is gone when the last view is.
        """
        lease = self._kind.from_address(self.address)
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
