"""A host is told its job (epoch, seed, lanes, functions) only when something of it changed, and the epoch was forgotten
in the comparison. Who meets it: users of persistent workers, from the second epoch on: samples draw the numbers of
the first epoch again, and other ones than without persistent workers or after a resume.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('WORKERS-2', 'VOWN-1', 'VAMB-2')

EDITS = [
    ('line.py',
     '        for host in self.hosts:\n            host.submit(("job", job))\n',
     '        known = own.seed, self.lanes, own.interval\n        for host in self.hosts:\n            if getattr(host, "known", None) != known:  # a host that lives on has it already\n                host.submit(("job", job))\n                host.known = known\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy:
    def __init__(self, draw):
        self.draw = draw

    def __len__(self):
        return 4

    def __getitem__(self, i):
        return round(self.draw(), 6)


def scenario(pl):
    loader = pl.Loader(Noisy(pl.draw), 2, seed=1, workers=2, persistent=True)
    plain = pl.Loader(Noisy(pl.draw), 2, seed=1, workers=2)
    try:
        return [list(loader) == list(plain) for _ in range(3)]
    finally:
        loader.close()
        plain.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
