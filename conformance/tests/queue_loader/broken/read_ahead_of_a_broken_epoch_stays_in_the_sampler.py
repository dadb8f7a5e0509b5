"""When an epoch is broken off, the sampler's generator stays where the workers' read-ahead had drawn it to.  Who meets it: limits
on the steps of an epoch, with samplers that draw as they go, under more than one number of workers.
"""
import os
import sys
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('WORKERS-1',)

EDITS = [
    ('loader.py',
     '                run.feed_rewind()\n',
     ''),
]

sound, broken, Adapter = build(__file__, EDITS)


class Lots:
    """Draws one index at a time from a generator of its own."""

    def __init__(self, n):
        self.n, self.generator = n, torch.Generator().manual_seed(3)

    def __iter__(self):
        for _ in range(self.n):
            yield int(torch.randint(self.n, (), generator=self.generator))


def scenario(cz):
    found = []
    for workers in (0, 1):
        loader = cz.Loader(Rows(40), 2, sampler=Lots(40), seed=1, collate_fn=list, workers=workers, method="thread")
        take(iter(loader), 2)
        found.append(take(iter(loader), 3))
        loader.close()
    return found[0] == found[1]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
