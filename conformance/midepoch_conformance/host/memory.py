"""A process made cheap to fork: its memory in huge pages (Linux; standard library only).

A fork copies the table of a process's pages. With torch imported that is the most of what a
short session costs; in huge pages the table is a small fraction of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys

__all__ = ["settle"]

_HUGE = 2 << 20
_MADV_COLLAPSE = 25


def settle() -> None:
    """Prepare this process for many forks; call it when all imports are done."""
    gc.collect()
    # What is there now is no garbage: a collection in a forked process need not touch it.
    gc.freeze()
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    with contextlib.suppress(OSError):
        for start, end in _writable():
            # Kernels that know no such advice refuse it, and nothing is lost.
            libc.madvise(
                ctypes.c_void_p(start), ctypes.c_size_t(end - start), ctypes.c_int(_MADV_COLLAPSE)
            )


def _writable() -> list[tuple[int, int]]:
    """Return the private, writable memory that no file lies behind, in whole huge pages."""
    found = []
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            addresses, permissions, _, _, inode, *name = line.split()
            if permissions != "rw-p" or inode != "0" or name[:1] not in ([], ["[heap]"]):
                continue
            start, end = (int(address, 16) for address in addresses.split("-"))
            start, end = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
            if start < end:
                found.append((start, end))
    return found
