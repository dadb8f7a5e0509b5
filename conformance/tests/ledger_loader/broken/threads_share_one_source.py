"""What `source()` gives is kept in a module's global and not for each thread: a sample that waits between two draws goes on
with another thread's generator.  Who meets it: threads as workers, and samples that are read and then augmented.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('VOWN-1',)

EDITS = [
    ('seeds.py',
     '_here = threading.local()',
     '_here = type("Here", (), {})()'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Waits(Rows):
    def __init__(self, n, source):
        self.n, self.source = n, source

    def __getitem__(self, i):
        import time
        time.sleep(0.01 + 0.01 * (i % 3))
        return self.source().random()


def scenario(dk):
    def run(workers):
        loader = dk.Loader(Waits(24, dk.source), 2, seed=1, workers=workers, kind="thread")
        found = list(loader)
        loader.close()
        return found

    return run(0) == run(2)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
