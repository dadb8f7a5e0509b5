"""The loader waits for its workers' pipes alone, and reads the end of a pipe as no answer yet.

A worker that is killed (out of memory, by hand) makes the training hang.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-1",)
EDITS = [
    (
        "tideway_workers.py",
        "for found in mpc.wait(list(by_conn) + list(by_sentinel)):",
        "for found in mpc.wait(list(by_conn)):",
    ),
]

Adapter = edited(EDITS)

LIMIT = 4.0
"""The seconds after which a play counts as hanging."""


def shows():
    """Return what the sound loader and this one give, in one play."""

    class Dies(tideway_bench.Map):
        def __getitem__(self, i):
            if i == 6:
                os._exit(3)
            return tideway_bench.Map.__getitem__(self, i)

    class Hang(BaseException):
        pass

    def play(lib):
        def late(*_):
            raise Hang

        loader = lib.Loader(Dies(12, lib, draws=False), 2, seed=5, workers=2)
        # The test runner may have a limit of its own by the same timer.
        handler = signal.signal(signal.SIGALRM, late)
        limit = signal.setitimer(signal.ITIMER_REAL, LIMIT)
        try:
            return tideway_bench.epoch(loader)
        except lib.WorkerDiedError:
            return "WorkerDied"
        except Hang:
            return "hang"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, *limit)
            loader.close()

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
