"""Processes: their descendants in /proc, how to end them, and cheap forks (standard library).

Only Linux has all of this information. On other systems the counts are unknown (None) and only
process groups are ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
from collections.abc import Sequence
from typing import IO

__all__ = [
    "adopt_orphans",
    "die_with_parent",
    "end_but_trackers",
    "end_group",
    "end_marked",
    "end_one",
    "end_others",
    "keepers",
    "left_after",
    "living",
    "piped",
    "prepare_for_forks",
    "processor_time",
]

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_POLL = 0.004
_DYING = 10.0
_TIDYING = 1.0
_STARTING = 0.1
_TRACKER = "multiprocessing.resource_tracker"
_HUGE = 2 << 20
_MADV_COLLAPSE = 25


def adopt_orphans(adopt: bool = True) -> bool:
    """Make this process the new parent of orphans below it, or stop that; return whether it is."""
    return _prctl(_PR_SET_CHILD_SUBREAPER, int(adopt)) and adopt


def die_with_parent() -> bool:
    """Have the kernel kill this process when its parent dies; return whether that worked."""
    return _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


def living(pid: int) -> list[int] | None:
    """Return the descendants of ``pid`` that have not exited, nearest first; None if unknown."""
    if not _HAS_PROC:
        return None
    found: list[int] = []
    ahead = [pid]
    while ahead:
        below = _children(ahead.pop(0))
        ahead += below
        found += [child for child in below if _runs(child)]
    return found


def left_after(seconds: float) -> int | None:
    """Return how many processes below this one are alive, once none is or the time is up.

    Python's own keepers are not counted: the resource tracker and the fork server live as long as
    their process does.
    """
    until = time.monotonic() + seconds
    while True:
        # The kernel may skip a child while another one exits, so only a second look is sure.
        alive = living(os.getpid()) or living(os.getpid())
        if alive is None:
            return None
        alive = [pid for pid in alive if pid not in keepers()]
        if not alive or time.monotonic() > until:
            return len(alive)
        time.sleep(_POLL)


def processor_time(pid: int) -> float:
    """Return the seconds of processor time of a process and all its descendants."""
    ticks = 0
    for one in (pid, *(living(pid) or ())):
        fields = _stat(one)
        # Own and waited-for children's time, in user and in system mode.
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def end_but_trackers(found: Sequence[int]) -> None:
    """Kill processes if resource trackers are among them, and let these tidy up after the others.

    A tracker unlinks the named semaphores and segments of its users when the last user is gone.
    If it were killed with them, these would stay on the machine. A process that only looks like
    a tracker gains a second.
    """
    trackers = [pid for pid in found if _TRACKER in _command(pid)]
    if not trackers:
        return
    for pid in found:
        if pid not in trackers:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + _TIDYING
    while any(map(_runs, trackers)) and time.monotonic() < until:
        time.sleep(_POLL)


def end_one() -> None:
    """Kill the oldest process below this one, if there is any but Python's own keepers."""
    found = [pid for pid in living(os.getpid()) or () if pid not in keepers()]
    for pid in sorted(found)[:1]:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        # It may answer until the kernel has ended it: a case does not depend on that.
        until = time.monotonic() + _DYING
        while _runs(pid) and time.monotonic() < until:
            time.sleep(_POLL)


def end_group(pid: int, seconds: float = 0.0) -> None:
    """Kill the process group that ``pid`` leads, if it still exists.

    Its members first have ``seconds`` to exit by themselves: a manager of torch's shared memory
    removes the rest of that memory when all its users are gone, and no other process does.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until and _group_runs(pid):
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def end_others(spared: set[int]) -> int:
    """Kill and reap all descendants of this process but ``spared``; return how many lived.

    The caller adopts orphans, so no process escapes by leaving its group.
    """
    ended: set[int] = set()
    while True:
        found = [pid for pid in living(os.getpid()) or () if pid not in spared]
        for pid in found:
            ended.add(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in _children(os.getpid()):
            if pid not in spared:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)
        if not found:
            return len(ended)


def piped(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe that ``Popen`` was asked to make."""
    if pipe is None:
        raise RuntimeError("Popen made no pipe although it was asked to")
    return pipe


def end_marked(mark: str, spare: int | None = None) -> None:
    """Kill all processes but ``spare`` that were started with ``mark`` in their environment.

    This finds daemons too, which have left their group, their session and their parent.
    """
    spared = {os.getpid(), spare}
    until = time.monotonic() + _DYING
    while time.monotonic() < until:
        found = [pid for pid in _numbers("/proc") if pid not in spared]
        found = [pid for pid in found if mark in _environment(pid) and _runs(pid)]
        if not found:
            return
        end_but_trackers(found)
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            except PermissionError:
                spared.add(pid)
        time.sleep(_POLL)


def keepers() -> set[int]:
    """Return the processes that multiprocessing keeps for as long as this one lives."""
    found = set()
    for module, keeper, attribute in (
        ("multiprocessing.resource_tracker", "_resource_tracker", "_pid"),
        ("multiprocessing.forkserver", "_forkserver", "_forkserver_pid"),
    ):
        pid = getattr(getattr(sys.modules.get(module), keeper, None), attribute, None)
        if pid is not None:
            found.add(pid)
    return found


def prepare_for_forks() -> None:
    """Make this process cheap to fork; call it when all imports are done.

    A fork copies the table of the process's pages. With torch imported, that copy is most of the
    cost of a short session. With the memory in huge pages the table is much smaller (Linux).
    """
    gc.collect()
    # Nothing that exists now is garbage: a collection in a forked process need not touch it.
    gc.freeze()
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    with contextlib.suppress(OSError):
        for start, end in _writable():
            # A kernel without this advice refuses it, and the memory stays as it is.
            libc.madvise(
                ctypes.c_void_p(start), ctypes.c_size_t(end - start), ctypes.c_int(_MADV_COLLAPSE)
            )


def _prctl(option: int, value: int) -> bool:
    return _PRCTL is not None and int(_PRCTL(option, value, 0, 0, 0)) == 0


def _children(pid: int) -> list[int]:
    """Return the children of all threads of ``pid``."""
    if not _LISTS_CHILDREN:
        return [child for child in _numbers("/proc") if _stat(child)[1:2] == [str(pid)]]
    found: list[int] = []
    for task in _numbers(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found += [int(child) for child in _read(f"/proc/{pid}/task/{task}/children").split()]
    return found


def _runs(pid: int) -> bool:
    """Return whether ``pid`` exists and is no zombie."""
    return _stat(pid)[:1] not in ([], ["Z"], ["X"], ["x"])


def _group_runs(group: int) -> bool:
    """Return whether a process of the group exists and is no zombie; False if that is unknown."""
    fields = map(_stat, _numbers("/proc")) if _HAS_PROC else ()
    return any(f[2:3] == [str(group)] and f[0] not in "ZXx" for f in fields)


def _stat(pid: int) -> list[str]:
    """Return the fields of a process's status after its name; none if the process is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return []


def _command(pid: int) -> str:
    """Return a process's command line; a process that just starts has none yet."""
    until = time.monotonic() + _STARTING
    while True:
        command = ""
        with contextlib.suppress(OSError):
            command = _read(f"/proc/{pid}/cmdline")
        if command or not _runs(pid) or time.monotonic() > until:
            return command
        time.sleep(_POLL)


def _environment(pid: int) -> str:
    with contextlib.suppress(OSError):
        return _read(f"/proc/{pid}/environ")
    return ""


def _read(path: str) -> str:
    # A file object would cost more than the reading, and each play reads a dozen files of /proc.
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return b"".join(iter(lambda: os.read(file, 4096), b"")).decode("ascii", "replace")
    finally:
        os.close(file)


def _numbers(folder: str) -> list[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(name) for name in os.listdir(folder) if name.isdigit()]
    return []


def _writable() -> list[tuple[int, int]]:
    """Return the private, writable memory that is backed by no file, in whole huge pages."""
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


_HAS_PROC = os.path.isdir("/proc/self/task")
_LISTS_CHILDREN = os.path.exists("/proc/thread-self/children")
_PRCTL = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
