"""Tiny loaders in plain Python that try to escape, hide or break the engine."""

from __future__ import annotations

import multiprocessing
import multiprocessing.resource_tracker
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

Rows = list[list[float]]


class Honest:
    """A loader that resumes: its state is an epoch, a position, and a draw for good measure."""

    loader_here = True
    fork_safe = True

    def __init__(self) -> None:
        self.w: Any = None
        self.at: dict[str, Any] = {"epoch": 0, "batch": 0, "parts": [1, {"deep": 2}]}

    # The adapter's side.

    def offer(self) -> dict[str, Any]:
        return {
            "name": "odd",
            "kinds": ("map", "iterable"),
            "draws": ("python",),
            "workers": (0, 1),
            "codecs": ("pickle", "json"),
            "fork_safe": self.fork_safe,
        }

    def declines(self, w: Any, x: Any) -> str | None:
        return "never seventeen" if w.n == 17 else None

    def prepare(self, w: Any, root: str) -> None:
        with open(os.path.join(root, f"shard-{w.n}"), "a", encoding="ascii") as shard:
            shard.write("prepared\n")

    def open(self, w: Any, x: Any, root: str) -> Honest:
        session = type(self)()
        session.w = w
        if w.kind == "iterable":
            with open(os.path.join(root, f"shard-{w.n}"), encoding="ascii") as shard:
                session.at["parts"] = shard.read().split()
        return session

    # The session's side.

    def epoch(self) -> Iterator[Rows]:
        starts = range(0, self.w.n, self.w.batch_size)
        while self.at["batch"] < len(starts):
            start = starts[self.at["batch"]]
            self.at["batch"] += 1
            self.odd(self.at["batch"])
            yield [self.w.row(i) for i in range(start, min(start + self.w.batch_size, self.w.n))]
        self.at["epoch"] += 1
        self.at["batch"] = 0

    def odd(self, batch: int) -> None:
        """Do what this loader is named for; called before each batch."""

    def state(self) -> Any:
        return {**self.at}

    def load(self, state: Any) -> None:
        if not isinstance(state, dict) or not {"epoch", "batch", "parts"} <= set(state):
            raise ValueError(f"no state of this loader: {state!r}")
        self.at = state

    def close(self) -> None:
        pass


class InHost(Honest):
    fork_safe = False


class Hangs(Honest):
    def odd(self, batch: int) -> None:
        if batch == 3:
            threading.Event().wait()


class HangsAtOnce(Honest):
    def odd(self, batch: int) -> None:
        threading.Event().wait()


class HangsDeaf(Honest):
    """Hangs with every signal blocked that can be."""

    def odd(self, batch: int) -> None:
        if batch == 3:
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))
            for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            threading.Event().wait()


class HangsInHost(Hangs):
    fork_safe = False


class Exits(Honest):
    def odd(self, batch: int) -> None:
        if batch == 3:
            print("last words", file=sys.stderr, flush=True)
            os._exit(5)


class ExitsWell(Honest):
    def odd(self, batch: int) -> None:
        if batch == 3:
            os._exit(0)


class ExitsInHost(Exits):
    fork_safe = False


class Killed(Honest):
    def odd(self, batch: int) -> None:
        if batch == 3:
            os.kill(os.getpid(), signal.SIGKILL)


class KillsHost(Honest):
    def odd(self, batch: int) -> None:
        if batch == 3:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)


class Prints(Honest):
    """Prints what looks like a host's answer, through every usual way."""

    def odd(self, batch: int) -> None:
        print('{"id": 1}', flush=True)
        os.write(1, b'{"id": 2, "outcome": "done"}\n')
        os.system("echo '{\"id\": 3}'")


class PrintsInHost(Prints):
    """Writes garbage to every descriptor that it finds."""

    fork_safe = False

    def odd(self, batch: int) -> None:
        for fd in range(3, 20):
            try:
                os.write(fd, b'garbage\n[1]\n{"id": "x"}\n')
            except OSError:
                continue


class ClosesDescriptors(Honest):
    def odd(self, batch: int) -> None:
        os.closerange(0, 4096)


class Forks(Honest):
    """Forks in the middle of the loop and forgets that it did: the child goes on playing."""

    def odd(self, batch: int) -> None:
        if batch == 2:
            os.fork()


class Leaves(Honest):
    """Leaves processes behind: a child, and a daemon in a session of its own."""

    def odd(self, batch: int) -> None:
        if batch == 1:
            subprocess.Popen(["sleep", "1000"])
            subprocess.Popen(
                [sys.executable, "-c", "import os; os.fork() and os._exit(0); os.setsid();"
                 "os.execvp('sleep', ['sleep', '1000'])"]
            ).wait()  # fmt: skip


class LeavesInHost(Leaves):
    fork_safe = False


class KeepsSemaphores(Honest):
    """Dies with a named semaphore, as a killed loader with spawned workers does."""

    def odd(self, batch: int) -> None:
        lock = multiprocessing.get_context("spawn").Lock()
        with open(os.environ["SEMAPHORES"], "a", encoding="ascii") as names:
            # There is no public way to ask for its name.
            names.write(f"{lock._semlock.name}\n")  # type: ignore[attr-defined]
        # Spawned workers take longer to start than the tracker, which has no such name before.
        tracker = multiprocessing.resource_tracker._resource_tracker._pid
        while b"resource_tracker" not in Path(f"/proc/{tracker}/cmdline").read_bytes():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)


class KeepsSemaphoresInHost(KeepsSemaphores):
    fork_safe = False


class LeavesSlowly(Honest):
    """Its process needs a moment to go, and does go."""

    def close(self) -> None:
        subprocess.Popen(["sleep", "0.3"])


class Hoards(Honest):
    """Keeps a thread and a descriptor of each life."""

    kept: ClassVar[list[tuple[int, threading.Event]]] = []

    def close(self) -> None:
        end = threading.Event()
        self.kept.append((os.open(os.devnull, os.O_RDONLY), end))
        threading.Thread(target=end.wait).start()

    @classmethod
    def let_go(cls) -> None:
        while cls.kept:
            fd, end = cls.kept.pop()
            os.close(fd)
            end.set()


class LetsGoSlowly(Honest):
    """Its thread needs a moment to go, and does go."""

    def close(self) -> None:
        threading.Thread(target=time.sleep, args=(0.3,)).start()


class Interrupts(Honest):
    def odd(self, batch: int) -> None:
        if batch == 2:
            raise KeyboardInterrupt


class Ends(Honest):
    def odd(self, batch: int) -> None:
        if batch == 2:
            sys.exit("enough")


class Endless(Honest):
    def epoch(self) -> Iterator[Rows]:
        while True:
            yield [[0]]


class Nonsense(Honest):
    def epoch(self) -> Any:
        return iter([{"rows": None}])


class Draws(Honest):
    """Taking a state draws a number."""

    def state(self) -> Any:
        random.random()
        return super().state()


class Shares(Honest):
    """The state handed out is its own."""

    def state(self) -> Any:
        return self.at


class NoState(Honest):
    def state(self) -> Any:
        return lambda: None


class NoWords(Honest):
    """Raises an error whose text cannot be made."""

    def load(self, state: Any) -> None:
        class BrokenError(ValueError):
            def __str__(self) -> str:
                raise RuntimeError("no words")

        raise BrokenError


class Failing(Honest):
    """An adapter at fault: the error is in its own lines."""

    loader_here = False

    def epoch(self) -> Any:
        raise TypeError("a slip of the adapter's author")


class BadOffer(Honest):
    def offer(self) -> dict[str, Any]:
        return {"kind": ("map",)}


class BadPrepare(Honest):
    def prepare(self, w: Any, root: str) -> None:
        raise OSError("no space left")


class BadDeclines(Honest):
    def declines(self, w: Any, x: Any) -> str | None:
        raise LookupError("no such cell")


class HangsAtEnd(Honest):
    """Cannot be closed."""

    def close(self) -> None:
        threading.Event().wait()


def make_loader(num_workers: int) -> Any:
    """Return a loader of the user's own."""
    return [{"x": [1.5, 2], "y": {3, 4}}, {"x": [1.5, 3], "y": {4, 3}}]


def make_failing(num_workers: int) -> Any:
    raise FileNotFoundError("no data here")


NUMBER = 3
