"""A play's own surroundings: its temporary folder, its shared memory, its names (standard library).

Loaders use names that the whole machine shares: segments of shared memory, lock files, caches in
the temporary folder. Plays that run beside each other would meet there. The sessions of one play
share their surroundings, as the runs of one job do.

Linux gives a process its own IPC and mount namespace, if it may. Where it may not, plays have their
own temporary folders alone: nothing here is an error.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence

__all__ = ["SHARED", "be_alone", "can_be_alone", "folders", "own_temporary_folder"]

SHARED = "/dev/shm"
"""The folder of shared memory."""

_NEW_MOUNTS, _NEW_IPC, _NEW_USER = 0x00020000, 0x08000000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 0x40000
_LIBC = ctypes.CDLL(None)


def own_temporary_folder(folder: str) -> None:
    """Make ``folder`` the temporary folder of this process and of those that it starts."""
    with contextlib.suppress(OSError):
        os.makedirs(folder, exist_ok=True)
        # The host's own may be in use: multiprocessing notes it.
        getattr(multiprocessing.current_process(), "_config", {}).pop("tempdir", None)
        os.environ["TMPDIR"] = folder
        tempfile.tempdir = folder


def can_be_alone() -> bool:
    """Return whether a process that is forked from this one may have its own namespaces."""
    if sys.platform != "linux" or not os.path.isdir(SHARED):
        return False
    with _a_folder() as folder:
        if folder is None:
            return False
        pid = os.fork()
        if pid == 0:
            try:
                alone = be_alone(folder) and not os.path.exists(folder)
            finally:
                os._exit(not alone)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@contextlib.contextmanager
def _a_folder() -> Iterator[str | None]:
    folder = None
    with contextlib.suppress(OSError):
        folder = tempfile.mkdtemp(prefix="midepoch-", dir=SHARED)
    try:
        yield folder
    finally:
        if folder is not None:
            with contextlib.suppress(OSError):
                for name in os.listdir(folder):
                    os.rmdir(os.path.join(folder, name))
                os.rmdir(folder)


def folders() -> list[str]:
    """Return the folders in the shared memory that all plays see: a data set may lie there."""
    with contextlib.suppress(OSError), os.scandir(SHARED) as entries:
        # The folders of other plays are none of this one's business.
        shown = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
        return [name for name in shown if not name.startswith("midepoch-")]
    return []


def needed(*paths: str) -> list[str]:
    """Return the folders in the shared memory that hold ``paths``: the files of a play itself."""
    inside = [path for path in paths if path.startswith(f"{SHARED}/")]
    return sorted({path[len(SHARED) + 1 :].partition("/")[0] for path in inside})


def be_alone(memory: str, kept: Sequence[str] = ()) -> bool:
    """Give this process its own IPC namespace, and ``memory`` as its folder of shared memory.

    The process must have no other thread.

    Args:
        memory: a folder in the shared memory.
        kept: the folders there that stay visible; see :func:`folders`.

    Returns:
        whether that worked. If not, the process is as it was, or has a user namespace of its own.
    """
    user, group = os.getuid(), os.getgid()
    if _LIBC.unshare(_NEW_IPC | _NEW_MOUNTS):
        if _LIBC.unshare(_NEW_USER | _NEW_IPC | _NEW_MOUNTS):
            return False
        try:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{user} {user} 1")
            _write("/proc/self/gid_map", f"{group} {group} 1")
        except OSError:
            return False
    if _LIBC.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None):
        return False
    for name in kept:
        there, here = os.path.join(SHARED, name), os.path.join(memory, name)
        os.makedirs(here, exist_ok=True)
        _LIBC.mount(os.fsencode(there), os.fsencode(here), None, _BIND, None)
    recursive = _BIND | _RECURSIVE
    return not _LIBC.mount(os.fsencode(memory), SHARED.encode(), None, recursive, None)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
