"""A sampler that is interrupted while it is drawn keeps its generators where they were then: the next attempt draws
another order. Who meets it: Ctrl-C in the seconds in which a long order is drawn, and a program that goes on.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome

BREAKS = ('FAULT-12',)

EDITS = [
    ('loader.py',
     '                own._cursor = dataclasses.replace(c, restore=own.feed is not None)\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)

import random


class Shuffled:
    """A sampler of 12 ids with a generator, which is interrupted once."""

    def __init__(self, waits):
        self.generator, self.waits = random.Random(3), waits

    def __len__(self):
        return 12

    def __iter__(self):
        order = list(range(12))
        self.generator.shuffle(order)
        for i in order:
            if i == 5 and self.waits:
                self.waits = False
                raise KeyboardInterrupt
            yield i


def scenario(pl):
    loader = pl.Loader(list(range(12)), 2, sampler=Shuffled(True), seed=1)
    it = iter(loader)
    try:
        next(it)
    except KeyboardInterrupt:
        pass
    return list(it) == list(pl.Loader(list(range(12)), 2, sampler=Shuffled(False), seed=1))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
