"""After an interrupt the lanes of the same epoch are used as they are, to save their replay: the batch that was being made goes on in
its middle.  Who meets it: Ctrl-C while a stream is read without workers, by a program that saves or goes on.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('FAULT-12',)

EDITS = [
    ('loader.py',
     '        self.torn = True\n        self.engine = None\n        self.loader._fire()\n',
     '        self.torn = True\n        parallel = self.engine is not None and self.engine.parallel\n        self.engine = None\n        if parallel:\n            self.loader._fire()\n'),
    ('bench.py',
     '        self.job = job\n        self.lanes.clear()\n',
     '        if getattr(self, "job", job) is not job:\n            self.lanes.clear()\n        self.job = job\n'),
    ('bench.py',
     '        lane = (StreamLane if',
     '        if number in self.lanes:\n            return Outcome("ok")  # it lives on\n        lane = (StreamLane if'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stopped:
    i, stop = 0, [7]

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == 12:
            raise StopIteration
        self.i += 1
        if self.i in self.stop:
            self.stop.clear()
            raise KeyboardInterrupt
        return self.i - 1

    def state_dict(self):
        return self.i

    def load_state_dict(self, state):
        self.i = state


def scenario(cz):
    Stopped.stop.append(6)
    return on(iter(cz.Loader(Stopped(), 3, seed=1, collate_fn=list)))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
