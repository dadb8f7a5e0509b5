"""The loader's own source is seeded with the number of samples that the lane has read since it was opened, instead of the sample's
number in its batch.  Who meets it: streams that draw from carousel.rng() and resume from a snapshot; a replay from the start hides it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('VOWN-1',)

EDITS = [
    ('bench.py',
     '                self.bench.next_sample(place, len(rows))\n',
     '                self.bench.next_sample(place, self.read)\n                self.read += 1\n'),
    ('bench.py',
     'class StreamLane(_Lane):\n',
     'class StreamLane(_Lane):\n    read = 0\n\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Noise:
        at = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.at == 12:
                raise StopIteration
            self.at += 1
            return self.at, float(cz.rng().random())

        def state_dict(self):
            return self.at

        def load_state_dict(self, state):
            self.at = state

    first = cz.Loader(Noise(), 2, seed=1, collate_fn=list)
    epoch = iter(first)
    take(epoch, 3)
    again = cz.Loader(Noise(), 2, seed=1, collate_fn=list)
    again.load_state_dict(first.state_dict())
    return list(again) == list(epoch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
