"""Delivery out of order deals batches as long as a worker is free, however long the first missing one takes: the list of
batches ahead grows with the position. Who meets it: delivery out of order while one batch hangs, on a slow disk for
instance.
"""
import threading
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('COST-1',)

EDITS = [
    ('desk.py',
     '            bound = self.ledger.low + (self.window if self.in_order else 4 * self.window)\n            if number >= min(len(self.book), bound):\n',
     '            bound = self.ledger.low + self.window\n            if number >= (min(len(self.book), bound) if self.in_order else len(self.book)):\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Slow(Rows):
    def __init__(self, n):
        super().__init__(n)
        self.gate = threading.Event()

    def __getitem__(self, i):
        if i == 0:
            self.gate.wait(1)
        return i


def scenario(dk):
    data = Slow(400)
    loader = dk.Loader(data, 2, seed=1, workers=2, kind="thread", in_order=False)
    try:
        most = 0
        for n, _ in enumerate(loader):
            if n > 140:
                data.gate.set()
            if n % 10 == 0:
                most = max(most, len(loader.state_dict()["ahead"]))
        return f"at most 16 batches are ahead: {most <= 16}"
    finally:
        data.gate.set()
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
