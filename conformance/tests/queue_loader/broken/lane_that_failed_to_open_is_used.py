"""A lane is entered among the open ones before its replay, and stays there when the replay raises: the same iterator goes on with a
lane that is half restored.  Who meets it: a file that cannot be read for a moment, just while a resume replays.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('FAULT-13',)

EDITS = [
    ('bench.py',
     '        lane.restore(mark, items)\n        self.lanes[number] = lane\n',
     '        self.lanes[number] = lane\n        lane.restore(mark, items)\n'),
    ('loader.py',
     '            outcome = self._wait((self.gen, "open", lane))\n            if outcome.kind == "error":\n                self._tear()\n                raise outcome.value\n            self.opened[lane] = True\n',
     '            outcome = self._wait((self.gen, "open", lane))\n            self.opened[lane] = True\n            if outcome.kind == "error":\n                raise outcome.value\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Flaky:
    trouble = []

    def __iter__(self):
        self.i = 0
        return self

    def __next__(self):
        if self.i == 12:
            raise StopIteration
        if self.trouble and self.i == 3:
            self.trouble.clear()
            raise OSError("not now")
        self.i += 1
        return self.i - 1


def scenario(cz):
    first = cz.Loader(Flaky(), 2, seed=1, collate_fn=list)
    take(iter(first), 4)
    again = cz.Loader(Flaky(), 2, seed=1, collate_fn=list)
    again.load_state_dict(first.state_dict())
    Flaky.trouble.append(True)
    return on(iter(again))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
