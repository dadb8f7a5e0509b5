"""A loader that resumes, and does one hostile thing in one of its calls.

Which and where is in the workload's seed (see :func:`seed_of`), so that one host meets all of
them, one after the other, and honest cases in between.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

PLACES = ("open", "epoch", "next", "state", "load", "close")


def hangs() -> None:
    threading.Event().wait()


def hangs_deaf() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
    threading.Event().wait()


def spins() -> None:
    while True:
        pass


def stops() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def forks() -> None:
    """Forget which of two processes this is: the child goes on playing."""
    os.fork()


def forks_aside() -> None:
    """Leave a child that holds all descriptors for ever."""
    if os.fork() == 0:
        threading.Event().wait()


def spawns() -> None:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


def spawns_a_daemon() -> None:
    """Leave a grandchild in a session of its own, whose parent is gone."""
    text = "import os; os.fork() and os._exit(0); os.setsid(); os.execvp('sleep', ['sleep', '999'])"
    subprocess.Popen([sys.executable, "-c", text]).wait()


def closes_descriptors() -> None:
    os.closerange(0, 4096)


def replaces_descriptors() -> None:
    """Put something else where each open descriptor was."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        if int(name) != nothing:
            os.dup2(nothing, int(name))


def prints() -> None:
    """Print much, some of it like an answer of the host's, by every usual way."""
    print('{"id": 1, "outcome": "done"}', flush=True)
    os.write(1, b'["done", 0.0]\n' + b"x" * 200_000 + b"\n")
    os.system("echo '{\"id\": 3}'")
    sys.stderr.write("y" * 200_000)


def closes_its_output() -> None:
    sys.stdout.close()
    sys.stderr = None  # type: ignore[assignment]  # that is what some do


def ignores_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def handles_signals() -> None:
    """Install handlers that raise, and have one called later."""

    def handler(number: int, frame: Any) -> None:
        raise TimeoutError("the loader's own alarm")

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, handler)
    faulthandler.enable(sys.__stderr__)


def exits() -> None:
    os._exit(5)


def exits_well() -> None:
    os._exit(0)


def leaves_by_exception() -> None:
    sys.exit(3)


def interrupts() -> None:
    raise KeyboardInterrupt


def segfaults() -> None:
    ctypes.string_at(0)


def aborts() -> None:
    os.abort()


def kills_its_group() -> None:
    os.killpg(0, signal.SIGKILL)


def starts_threads() -> None:
    """Start threads that never end and keep a process from its exit."""
    threading.Thread(target=threading.Event().wait, daemon=False).start()


def moves() -> None:
    """Change what a process has one of."""
    os.chdir("/")
    os.umask(0o777)
    os.environ.clear()
    sys.path.clear()


ACTS: tuple[Callable[[], None], ...] = (
    hangs, hangs_deaf, spins, stops, forks, forks_aside, spawns, spawns_a_daemon,
    closes_descriptors, replaces_descriptors, prints, closes_its_output, ignores_signals,
    handles_signals, exits, exits_well, leaves_by_exception, interrupts, segfaults, aborts,
    kills_its_group, starts_threads, moves,
)  # fmt: skip


def seed_of(act: str, place: str) -> int:
    """Return the seed of a workload in which ``act`` happens in ``place``; 0 is honest."""
    names = [one.__name__ for one in ACTS]
    return 1 + names.index(act) * len(PLACES) + PLACES.index(place)


class Session:
    """Delivers the samples in their order."""

    def __init__(self, w: Any) -> None:
        self.w, self.done = w, 0
        self.at("open")

    def at(self, place: str) -> None:
        if self.w.seed:
            act, where = divmod(self.w.seed - 1, len(PLACES))
            if PLACES[where] == place:
                ACTS[act]()

    def epoch(self) -> Iterator[list[list[float]]]:
        self.at("epoch")
        return self.batches()

    def batches(self) -> Iterator[list[list[float]]]:
        starts = range(0, self.w.n, self.w.batch_size)
        while self.done < len(starts):
            if self.done:
                self.at("next")
            self.done += 1
            start = starts[self.done - 1]
            yield [self.w.row(i) for i in range(start, min(start + self.w.batch_size, self.w.n))]
        self.done = 0

    def state(self) -> Any:
        self.at("state")
        return {"done": self.done}

    def load(self, state: Any) -> None:
        self.at("load")
        self.done = state["done"]

    def close(self) -> None:
        self.at("close")


class Forked:
    """Reaches the loader; each session is played in a process of its own."""

    loader_here = True
    fork_safe = True

    def offer(self) -> dict[str, Any]:
        return {"name": "hostile", "shuffles": (False,), "fork_safe": self.fork_safe}

    def declines(self, w: Any, x: Any) -> str | None:
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Session:
        return Session(w)


class Unforked(Forked):
    """The same, played in the host itself."""

    fork_safe = False
