"""A lane's fresh dataset is a shallow copy of one that was unpickled once, so lists and other objects that the dataset holds are one
for all lanes of a process, and for all its epochs.  Who meets it: datasets with a buffer or a counter in a container.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('WORKERS-1', 'BASIS-3')

EDITS = [
    ('bench.py',
     '        if self.packed is not None:\n            return pickle.loads(self.packed)\n        return copy',
     '        if self.packed is not None:\n            if "template" not in self.__dict__:\n                self.template = pickle.loads(self.packed)\n            return copy.copy(self.template)\n        return copy'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Pairs:
        """Gives each two neighbours of a lane's numbers in the other order."""

        def __init__(self):
            self.held = []

        def __iter__(self):
            lane = cz.lane()
            for i in range(lane.number, 16, lane.count):
                self.held.append(i)
                if len(self.held) >= 2:
                    yield self.held.pop()
                    if self.held:
                        yield self.held.pop()

    Pairs.__qualname__ = "Pairs"
    globals()["Pairs"] = Pairs
    return list(cz.Loader(Pairs(), 1, seed=1, lanes=2, collate_fn=list))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
