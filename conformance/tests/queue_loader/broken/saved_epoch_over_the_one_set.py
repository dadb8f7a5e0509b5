"""When a pass of a sampler begins after a load, the sampler gets the epoch of the state once more, also if the program has set
another one since the load, as loops with set_epoch do.  Who meets it: a DistributedSampler (or any other with set_epoch) and a
state that was taken between two epochs: the resumed epoch repeats the order of the epoch before.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

from _edit import Rows, build, outcome

BREAKS = ("EPOCH-2",)

EDITS = [
    ("feed.py",
     "            epoch = read_epoch(self.sampler)[1]\n",
     '            epoch = mark["epoch"]\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def parts():
        sampler = torch.utils.data.DistributedSampler(range(40), num_replicas=2, rank=0, seed=3)
        return sampler, cz.Loader(Rows(40), 4, sampler=sampler, seed=1, collate_fn=list)

    def epochs(sampler, loader, last):
        got = []
        while loader.next_epoch < last:
            sampler.set_epoch(loader.next_epoch)
            got.append(list(loader))
        return got

    whole = epochs(*parts(), 3)
    first, again = parts(), parts()
    got = epochs(*first, 1)
    again[1].load_state_dict(first[1].state_dict())
    return got + epochs(*again, 3) == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
