"""The reorder buffer knows a batch by its number alone and is not emptied between epochs, so what waits there when an epoch is broken
off is delivered in the next one.  Who meets it: limits on the steps of an epoch, under workers that live on and run ahead.
"""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('EPOCH-5', 'WORKERS-2')

EDITS = [
    ('crew.py',
     '        self.count, self.cap, self.timeout, self.gen = count, -(-max(1, lanes) // count), timeout, 0\n',
     '        self.count, self.cap, self.timeout, self.gen = count, -(-max(1, lanes) // count), timeout, 0\n        self.results = {}\n'),
    ('crew.py',
     '        self.results, self.taken, self.open_posts = {}, {}, {}\n',
     '        self.taken, self.open_posts = {}, {}\n'),
    ('crew.py',
     '                self.results[key] = outcome\n',
     '                self.results.setdefault(key[1:], outcome)  # a task that was sent twice may be answered twice\n'),
    ('crew.py',
     '        while key not in self.results:\n',
     '        while key[1:] not in self.results:\n'),
    ('crew.py',
     '        return self.results.pop(key)\n',
     '        return self.results.pop(key[1:])\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    loader = cz.Loader(Rows(16), 2, True, seed=1, collate_fn=list, workers=1, method="thread", persistent=True, prefetch=4)
    epoch = iter(loader)
    take(epoch, 1)
    time.sleep(0.3)  # the worker runs ahead
    take(epoch, 1)
    got = list(loader)
    loader.close()
    return sorted(i for batch in got for i in batch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
