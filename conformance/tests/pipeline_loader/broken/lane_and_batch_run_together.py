"""The lane and the number of its batch, from which a seed is derived, are put together without anything between them, so
lane 1 and its batch 10 give the seed of lane 11 and its batch 0. Who meets it: users of streams with twelve or more
lanes: samples of different workers are augmented alike.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VOWN-2', 'VAMB-2')

EDITS = [
    ('lane.py',
     'self._place("lane batch", self.number, self.made)',
     'self._place(f"lane batch {self.number}{self.made}")'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Noisy:
    def __init__(self, n, pl):
        self.n, self.pl = n, pl

    def __deepcopy__(self, memo):
        return self

    def __iter__(self):
        p = self.pl.here()
        for _ in range(p.lane, self.n, p.lanes):
            yield self.pl.draw(), self.pl.draw()


def scenario(pl):
    rows = [b[0] for b in pl.Loader(Noisy(144, pl), 1, seed=1, lanes=12)]
    return len(rows), len(set(rows))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
