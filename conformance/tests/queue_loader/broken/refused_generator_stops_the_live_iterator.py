"""The live iteration is ended before it is seen that the state's generators fit no generator of this sampler.  Who meets it: programs
that try a state of another sampler with the same name, catch the refusal, and go on.
"""
import os
import sys
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('REFUSE-4',)

EDITS = [
    ('loader.py',
     '        if point.sampler is not None:\n            feed.check(self.sampler, point.sampler)\n        self._stop()\n',
     '        self._stop()\n        if point.sampler is not None:\n            feed.check(self.sampler, point.sampler)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def make(cz, generator):
    sampler = torch.utils.data.RandomSampler(range(12), generator=generator)
    return cz.Loader(Rows(12), 4, sampler=sampler, seed=1, collate_fn=list)


def scenario(cz):
    other = make(cz, torch.Generator().manual_seed(3))
    take(iter(other), 1)
    loader = make(cz, None)
    epoch = iter(loader)
    take(epoch, 1)
    try:
        loader.load_state_dict(other.state_dict())
    except cz.StateError:
        return on(epoch, 5) == on(iter(make(cz, None)), 5)[1:]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
