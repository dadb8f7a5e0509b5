"""A worker that lives on keeps the permutation that it made for the first epoch, because the length is the same.  Who meets it:
shuffled map-style datasets under persistent workers; other executions, and a resume, have the right order.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('WORKERS-2', 'EPOCH-4')

EDITS = [
    ('bench.py',
     '        self.order = order(job.length, job.seed, job.epoch, job.shuffle) if job.length is not None else None\n',
     '        if job.length is None or self.order is None or self.order.n != job.length:\n            self.order = order(job.length, job.seed, job.epoch, job.shuffle) if job.length is not None else None\n'),
    ('bench.py',
     '        self.seeds, self.isolate, self.lanes = seeds, isolate, {}\n',
     '        self.seeds, self.isolate, self.lanes, self.order = seeds, isolate, {}, None\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    args = {"seed": 1, "collate_fn": list, "workers": 1, "method": "fork"}
    first = cz.Loader(Rows(12), 4, True, persistent=True, **args)
    list(first)
    epoch = iter(first)
    before, state = take(epoch, 1), first.state_dict()
    first.close()
    again = cz.Loader(Rows(12), 4, True, persistent=True, **args)
    again.load_state_dict(state)
    rest = list(again)
    again.close()
    return sorted(i for batch in before + rest for i in batch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
