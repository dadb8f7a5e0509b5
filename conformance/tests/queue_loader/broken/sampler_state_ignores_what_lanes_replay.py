"""A state holds the sampler's newest state up to the position, also if a lane has to replay batches of before it, whose indices nobody
knows then.  Who meets it: Stateful map-style datasets with a Stateful sampler, where the two are not saved at the same batch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('INTERVAL-1', 'RESUME-1')

EDITS = [
    ('loader.py',
     '        return min([point.batches] + [m.ordinal * count + l for l, m in enumerate(point.lanes)])\n',
     '        return point.batches\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Counts(Rows):
    count = 0

    def __getitem__(self, i):
        self.count += 1
        return i, self.count

    def state_dict(self):
        return self.count

    def load_state_dict(self, state):
        self.count = state


class Down:
    at = 0

    def __iter__(self):
        while self.at < 40:
            self.at += 1
            yield 40 - self.at
        self.at = 0

    def state_dict(self):
        return self.at

    def load_state_dict(self, state):
        self.at = state


def scenario(cz):
    first = cz.Loader(Counts(40), 2, sampler=Down(), seed=1, collate_fn=list, interval=5, lanes=2)
    epoch = iter(first)
    take(epoch, 11)
    state = first.state_dict()
    rest = list(epoch)
    again = cz.Loader(Counts(40), 2, sampler=Down(), seed=1, collate_fn=list, interval=5, lanes=2)
    again.load_state_dict(state)
    return list(again) == rest


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
