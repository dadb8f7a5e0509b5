"""To undo the read-ahead of a broken epoch the sampler's epoch is set to that epoch's, and left there: the epoch that the program
had set for the next pass is lost.  Who meets it: set_epoch loops with a limit on steps, samplers with an epoch and a generator, workers.
"""
import os
import sys
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('RESUME-7', 'WORKERS-1')

EDITS = [
    ('feed.py',
     '        again.restore(mark, delivered)\n        if first:\n            again.draw()\n        write_epoch(self.sampler, now)\n',
     '        again.restore(mark, delivered)\n        if first:\n            again.draw()\n'),
    ('feed.py',
     '        now = read_epoch(self.sampler)[1]\n        write_epoch(self.sampler, mark["epoch"])\n        again',
     '        write_epoch(self.sampler, mark["epoch"])\n        again'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Turns:
    """Begins at another place each epoch, and jitters with a generator of its own."""

    epoch = 0

    def __init__(self, n):
        self.n, self.jitter = n, torch.Generator().manual_seed(3)

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        torch.rand((), generator=self.jitter)
        for i in range(self.n):
            yield (i + 5 * self.epoch) % self.n


def scenario(cz):
    sampler = Turns(20)
    loader = cz.Loader(Rows(20), 2, sampler=sampler, seed=1, collate_fn=list, workers=2, method="thread")
    got = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        got.append(take(iter(loader), 2))
    loader.close()
    return got


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
