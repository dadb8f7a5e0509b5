"""If the iterator's state_dict raises, a snapshot of the dataset's state alone is kept, and taken for a whole one.  Who
meets it: objects with two states whose iterator cannot be saved at some rows.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('RESUME-1',)

EDITS = [
    ('hand.py',
     '            if self.iterator is not None and stateful(self.iterator):\n                parts["iterator"] = self.iterator.state_dict()\n            return pickle.dumps(parts) if parts else None\n        except Exception as e:\n',
     '            if self.iterator is not None and stateful(self.iterator):\n                parts["iterator"] = self.iterator.state_dict()\n        except Exception as e:\n'),
    ('hand.py',
     '                          "a resume replays from the one before", stacklevel=1)\n            return None\n',
     '                          "a resume replays from the one before", stacklevel=1)\n        return pickle.dumps(parts) if parts else None\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Both:
    passes = 0

    def __iter__(self):
        self.passes += 1
        return Steps()

    def state_dict(self):
        return self.passes

    def load_state_dict(self, state):
        self.passes = state - 1


class Steps:
    i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= 10:
            raise StopIteration
        self.i += 1
        return self.i - 1

    def state_dict(self):
        if self.i == 6:
            raise OSError("cannot be saved here")
        return self.i

    def load_state_dict(self, state):
        self.i = state


def scenario(dk):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = dk.Loader(Both(), 2, seed=1)
        take(iter(first), 3)
        again = dk.Loader(Both(), 2, seed=1)
        again.load_state_dict(first.state_dict())
        return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
