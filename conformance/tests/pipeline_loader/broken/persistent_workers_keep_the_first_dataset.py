"""A host keeps the dataset that it got for a lane and gives each later epoch a copy of that one. Who meets it:
persistent workers and a stream on which the program sets the epoch (or another field) between two epochs: the
workers do not see it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('WORKERS-2', 'BASIS-3')

EDITS = [
    ('hosts.py',
     '        self.streams, self.job, self.lanes = streams, None, {}',
     '        self.streams, self.job, self.lanes, self.kept = streams, None, {}, {}'),
    ('hosts.py',
     '                self.lanes[lane].open(*request[2:])',
     '                if self.job.style == "stream":  # a worker that lives on has its dataset already\n                    request = (*request[:2], copy.deepcopy(self.kept.setdefault(lane, request[2])), *request[3:])\n                self.lanes[lane].open(*request[2:])'),
    ('hosts.py',
     'import collections\nimport multi',
     'import collections\nimport copy\nimport multi'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    epoch = 0

    def __iter__(self):
        return iter(range(self.epoch * 10, self.epoch * 10 + 6))


def scenario(pl):
    data, out = Stream(), []
    loader = pl.Loader(data, 2, workers=1, persistent=True)
    for data.epoch in range(3):
        out.append(list(loader))
    return out



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
