"""The list that a batch sampler gives is handed on as it is, so a sampler that fills one list again and again changes the batches
that wait.  Who meets it: such batch samplers under worker threads; processes get a copy, and the caller's own process is quick.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('WORKERS-2', 'BASIS-3')

EDITS = [
    ('feed.py',
     '    if isinstance(value, list):\n        return [_kept(v) for v in value]\n    if isinstance(value, (torch',
     '    if isinstance(value, (torch'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Reuses:
    def __iter__(self):
        batch = [0, 0]
        for i in range(0, 12, 2):
            batch[:] = [i, i + 1]
            yield batch


class Slow(Rows):
    def __getitem__(self, i):
        time.sleep(0.02)
        return i


def scenario(cz):
    loader = cz.Loader(Slow(12), batch_sampler=Reuses(), seed=1, collate_fn=list, workers=1, method="thread", prefetch=3)
    got = list(loader)
    loader.close()
    return sorted(i for batch in got for i in batch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
