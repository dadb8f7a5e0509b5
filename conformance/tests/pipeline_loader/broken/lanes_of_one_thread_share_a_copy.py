"""The dataset is copied once for each thread (or for the caller, without workers), and not for each lane.  Who meets
it: a stateful stream with more lanes than workers, as after a resume on a smaller machine.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('WORKERS-1', 'ELASTIC-1')

EDITS = [
    ('line.py',
     '        for host in self.hosts:\n            host.submit',
     '        copies = {}\n        for host in self.hosts:\n            host.submit'),
    ('line.py',
     '                data = copy.deepcopy(data)\n',
     '                data = copies.setdefault(lane % len(self.hosts), copy.deepcopy(data))\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    class Stream:
        def __init__(self):
            self.pos = 0

        def __iter__(self):
            p = pl.here()
            while self.pos < 6:
                self.pos += 1
                yield (self.pos - 1) * p.lanes + p.lane

        def state_dict(self):
            return {"pos": self.pos}

        def load_state_dict(self, state):
            self.pos = state["pos"]

    out = []
    for workers in (2, 1, 0):
        loader = pl.Loader(Stream(), 2, seed=1, lanes=2, workers=workers, prefetch=1)
        out.append(list(loader))
        loader.close()
    return out


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
