"""The stacks of a play's processes, asked for by a signal (standard library only).

The player and the processes that are forked from it write their stacks into a file of the play's
folder when the signal reaches them. Python's handler for it runs in C: it needs neither the
interpreter's lock nor a thread that listens. Interpreters that they start, as spawned workers are,
have Python's handler of a fatal error, which writes the stacks to the standard error and ends the
process: a process is asked only when its play is over. Other programs are only named.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import os
import re
import resource
import signal
import time
from collections.abc import Iterable, Iterator

__all__ = ["ask", "innermost", "shortened", "signature", "write_when_asked"]

_FILE = "stacks"
_SIGNAL = getattr(signal, "SIGRTMAX", 0) - 7
_OUT_OF_REACH = 200
_ANSWERING, _POLL = 0.5, 0.01
_MOST = 8000

_FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
_THREAD = re.compile(r"^(Current thread|Thread|Stack \() ?")
_PROCESS = re.compile(r"^Process \d+ \((?:\S*/)?(\S*).*; state (.)\):$")

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
    # For the interpreters that this process starts; such an end is no reason to keep its memory.
    os.environ["PYTHONFAULTHANDLER"] = "1"
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
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
    number, path = _SIGNAL, os.path.join(folder, _FILE)
    if not _listens(pid, number):
        number, path = signal.SIGABRT, os.path.realpath(f"/proc/{pid}/fd/2")
        # A resource tracker tidies up after the others, and stands nowhere but there.
        other = "resource_tracker" in _command(pid) or not os.path.isfile(path)
        if other or not _listens(pid, number):
            return "  (its stack is unknown: another program)"
    before = last = _size(path)
    until = time.monotonic() + _ANSWERING
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
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


def _listens(pid: int, number: int) -> bool:
    """Return whether a process has a handler of a signal, which would kill it otherwise."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", encoding="ascii") as status:
        for line in status:
            name, _, value = line.partition(":")
            if name == "SigCgt":
                return bool(int(value, 16) >> (number - 1) & 1)
    return False


def _described(pid: int) -> str:
    state = "?"
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        state = stat.read().rpartition(")")[2].split()[0]
    return f"Process {pid} ({_command(pid)[:80].strip()}; state {state}):"


def _command(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as line:
        return " ".join(line.read().decode(errors="replace").split("\0"))
    return ""


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


def shortened(text: str) -> str:
    r"""Return stacks without what differs from run to run or tells of the machine.

    Example:
        >>> print(shortened('Process 71 (/home/me/env/bin/python -m x; state S):\n'
        ...                 'Thread 0x1f (most recent call first):\n'
        ...                 '  File "/home/me/project/hangs.py", line 5 in __next__\n'))
        Process 1 (python; state S):
        Thread (most recent call first):
          project/hangs.py:5 in __next__
    """
    lines, processes = [], 0
    for line in text.splitlines():
        frame, process = _FRAME.match(line), _PROCESS.match(line)
        if frame:
            lines.append(f"  {'/'.join(frame[1].split('/')[-2:])}:{frame[2]} in {frame[3]}")
        elif process:
            processes += 1
            lines.append(f"Process {processes} ({process[1]}; state {process[2]}):")
        else:
            lines.append(re.sub(r" 0x[0-9a-f]+\b", "", line))
    return "\n".join(lines)


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
