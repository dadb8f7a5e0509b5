"""A load does not wait for the workers to end: it drops them, and they end when their sockets are closed.  Threads have no socket,
and keep their crew alive.  Who meets it: programs with worker threads that load states again and again in one process (rollbacks,
evaluations from a saved state): each load leaves the threads of the iteration before.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import threading

from _edit import Rows, build, outcome, take

BREAKS = ("FAULT-7",)

EDITS = [
    ("loader.py",
     """        self._stop()
        self.seed = plan["seed"]
""",
     """        self._run = self._engine = None  # workers end by themselves
        self.seed = plan["seed"]
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    loader = cz.Loader(Rows(40), 2, seed=4, workers=2, method="thread", collate_fn=list)
    take(iter(loader), 2)
    state, counts = loader.state_dict(), []
    for _ in range(5):
        loader.load_state_dict(state)
        take(iter(loader), 2)
        counts.append(threading.active_count())
    loader.close()
    return counts[-1] <= counts[0]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
