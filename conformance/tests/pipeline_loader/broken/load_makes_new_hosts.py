"""A load gives the loader a new pool of workers, so that no answer for the old position can be taken for one of the new;
the old pool is dropped, and not closed. Who meets it: a program that goes back to a checkpoint again and again in one
process, with threads: those of each live epoch that a load leaves stay for ever.
"""
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-7',)

EDITS = [
    ('loader.py',
     '        self._pool.close()\n        self._owner, self._named, self.seed',
     '        self._pool = Pool()\n        self._owner, self._named, self.seed'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    loader = pl.Loader(list(range(12)), 2, workers=2)
    state, pools, before, more = loader.state_dict(), [], threading.active_count(), []
    for _ in range(4):
        take(iter(loader), 1)
        pools.append(loader._pool)
        loader.load_state_dict(state)
        more.append(threading.active_count() - before)
    for pool in pools:
        pool.close()
    loader.close()
    return more


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
