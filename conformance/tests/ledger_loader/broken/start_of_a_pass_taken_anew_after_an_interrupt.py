"""The start of a sampler's pass is not kept until the pass is drawn: if an interrupt arrives while it is drawn, the next
request begins from generators that have moved on.  Who meets it: Ctrl-C in the seconds in which a long order is drawn.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-12',)

EDITS = [
    ('plan.py',
     '        ledger.start = start  # an interrupt may come while the sampler is drawn\n        order = drawn(loader.sampler, loader.seed, ledger.epoch, again)\n',
     '        order = drawn(loader.sampler, loader.seed, ledger.epoch, again)\n        ledger.start = start\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Picky:
    """Draws its order from a generator of its own; the user interrupts once."""

    def __init__(self, press):
        import random
        self.rng, self.press = random.Random(3), press

    def __iter__(self):
        keys = list(range(8))
        self.rng.shuffle(keys)
        for n, key in enumerate(keys):
            if n == 4 and self.press:
                self.press = False
                raise KeyboardInterrupt
            yield key


def scenario(dk):
    def run(press):
        it = iter(dk.Loader(Rows(8), 2, sampler=Picky(press), seed=1))
        try:
            return list(it)
        except KeyboardInterrupt:
            return list(it)

    return run(True) == run(False)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
