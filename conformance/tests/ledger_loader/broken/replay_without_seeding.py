"""A replay does not seed the streams before each row, because its rows are dropped anyway. Who meets it: streams that
draw what a later row will be, as a shuffle buffer of the dataset's own does.
"""
import random
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VAMB-1', 'INTERVAL-1')

EDITS = [
    ('hand.py',
     '    def pull(self, ordinal, most=None):\n        """The next rows of the stream; fewer than asked for where it ended."""\n        rows, most = [], most or self.job.batch_size or 1\n        while len(rows) < most and not self.ended:\n            self.place.at("stream", self.job.epoch, self.lane, ordinal, len(rows))\n',
     '    def pull(self, ordinal, most=None):\n        """The next rows of the stream; fewer than asked for where it ended."""\n        rows, kept, most = [], most is None, most or self.job.batch_size or 1\n        while len(rows) < most and not self.ended:\n            if kept:\n                self.place.at("stream", self.job.epoch, self.lane, ordinal, len(rows))\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Buffered:
    def __iter__(self):
        buffer = []
        for i in range(24):
            buffer.append(i)
            if len(buffer) > 6:
                yield buffer.pop(random.randrange(len(buffer)))
        while buffer:
            yield buffer.pop(random.randrange(len(buffer)))


def scenario(dk):
    first, again = (dk.Loader(Buffered(), 3, seed=1) for _ in range(2))
    take(iter(first), 4)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
