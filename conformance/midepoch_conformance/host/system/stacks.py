"""The stacks of a play's processes, asked for by a signal (standard library only).

The player and the processes that are forked from it write their stacks into a file of the play's
folder when the signal reaches them. Python's handler for it runs in C: it needs neither the
interpreter's lock nor a thread that listens. Processes that start another interpreter, as spawned
workers do, have no handler and are only named.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import os
import re
import signal
import time
from collections.abc import Iterable, Iterator

__all__ = ["ask", "innermost", "signature", "write_when_asked"]

_FILE = "stacks"
_SIGNAL = getattr(signal, "SIGRTMAX", 0) - 7
_OUT_OF_REACH = 200
_ANSWERING, _POLL = 0.5, 0.01
_MOST = 8000

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
_THREAD = re.compile(r"^(Current thread|Thread|Stack \() ?")

Frame = tuple[str, int, str]
"""A file, a line and the function's name."""

_asked_into = -1


def write_when_asked(folder: str) -> None:
    """Have this process, and those forked from it, write their stacks into ``folder`` when asked.

    Does nothing where the system has no such signal.
    """
    global _asked_into
    if _SIGNAL <= 0:
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    low = os.open(os.path.join(folder, _FILE), flags, 0o600)
    before, _asked_into = _asked_into, fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_REACH)
    os.close(low)
    faulthandler.register(_SIGNAL, file=_asked_into, all_threads=True)
    if before >= 0:
        with contextlib.suppress(OSError):
            os.close(before)


def ask(pids: Iterable[int], folder: str) -> str:
    """Return the stacks of the processes; one that does not answer is named with its state.

    The answers come into the file that :func:`write_when_asked` made in ``folder``.
    """
    parts = [f"{_described(pid)}\n{_answer(pid, folder)}" for pid in pids]
    return "\n".join(parts)[:_MOST]


def _answer(pid: int, folder: str) -> str:
    if not _listens(pid):
        return "  (its stack is unknown: another interpreter)"
    path = os.path.join(folder, _FILE)
    before = last = _size(path)
    until = time.monotonic() + _ANSWERING
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, _SIGNAL)
    while time.monotonic() < until:
        time.sleep(_POLL)
        size = _size(path)
        if size > before and size == last:
            break
        last = size
    with contextlib.suppress(OSError), open(path, "rb") as file:
        file.seek(before)
        text = file.read().decode(errors="replace")
        kept = [line for line in text.splitlines() if not _of_the_host(line)]
        return "\n".join(kept) or "  (its stack is unknown: it does not answer)"
    return "  (its stack is unknown)"


def _of_the_host(line: str) -> bool:
    """Return whether a line tells of the suite's own frames below the loader's."""
    frame = _FRAME.match(line)
    if frame is None:
        return False
    file = frame[1]
    return "/midepoch_conformance/host/" in file or file.startswith("<frozen runpy")


def _listens(pid: int) -> bool:
    """Return whether a process has a handler of the signal, which would kill it otherwise."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            name, _, value = line.partition(":")
            if name == "SigCgt":
                return bool(int(value, 16) >> (_SIGNAL - 1) & 1)
    return False


def _described(pid: int) -> str:
    state, command = "?", ""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        state = stat.read().rpartition(")")[2].split()[0]
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
        command = " ".join(line.read().decode(errors="replace").split("\0"))[:80].strip()
    return f"Process {pid} ({command}; state {state}):"


def _size(path: str) -> int:
    with contextlib.suppress(OSError):
        return os.path.getsize(path)
    return 0


def _threads(text: str) -> Iterator[list[Frame]]:
    """Yield the frames of each thread, innermost first."""
    frames: list[Frame] = []
    for line in text.splitlines():
        found = _FRAME.match(line)
        if found:
            frames.append((found[1], int(found[2]), found[3]))
        elif frames:
            yield frames
            frames = []
    if frames:
        yield frames


def innermost(text: str) -> str:
    r"""Return the innermost line of the user's code as ``file.py:line``; "" if there is none.

    Of several threads it is the one whose user's code is nearest to where the thread stands. Code
    of an installed package counts if no other does.

    Example:
        >>> innermost('Thread 0x1:\n  File "/a/lib/python3.11/threading.py", line 9 in wait\n'
        ...           '  File "/home/me/hangs.py", line 5 in __next__\n')
        'hangs.py:5'
    """
    found = []
    for frames in _threads(text):
        for depth, (file, line, _) in enumerate(frames):
            owner = _owner(file)
            if owner < _NOBODY:
                found.append((owner, depth, file, line))
    if not found:
        return ""
    owner, _, file, line = min(found, key=lambda one: one[:2])
    name = "/".join(file.split("/")[-2:]) if owner else os.path.basename(file)
    return f"{name}:{line}"


_NOBODY = 2


def _owner(file: str) -> int:
    """Return whose code a file is: 0 for the user's, 1 for an installed package's, else 2."""
    if "/site-packages/" in file or "/dist-packages/" in file:
        return 1
    standard = "/lib/python3" in file or file.startswith("<")
    return _NOBODY if standard or "/midepoch_conformance/" in file else 0


def signature(text: str) -> frozenset[tuple[tuple[str, str], ...]]:
    """Return what tells the places of two hangs apart: the files and functions of each thread.

    Threads at one place count once, and so do processes whose stack is unknown.
    """
    known = {tuple((file, function) for file, _, function in t) for t in _threads(text)}
    unknown = {(("?", "?"),)} if "its stack is unknown" in text else set()
    return frozenset(known | unknown)
