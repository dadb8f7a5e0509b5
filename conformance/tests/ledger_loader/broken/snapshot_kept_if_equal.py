"""A snapshot that equals the one before is not packed again. A dataset that hands out one dictionary of its own each
time, and changes it, always gives the same one, and True equals 1. Who meets it: Stateful datasets that keep their
state in a dictionary and return it as it is.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('STATE-6', 'RESUME-1')

EDITS = [
    ('hand.py',
     '            return pickle.dumps(parts) if parts else None\n        except Exception as e:\n            warnings.warn(',
     '            seen, packed = getattr(self, "packed", (None, None))\n            if not packed or parts != seen:\n                packed = pickle.dumps(parts) if parts else None\n                self.packed = parts, packed\n            return packed\n        except Exception as e:\n            warnings.warn('),
]

sound, broken, Adapter = build(__file__, EDITS)


class Keeping:
    def __init__(self):
        self.state = {"at": 0}

    def __iter__(self):
        while self.state["at"] < 13:
            self.state["at"] += 1
            yield self.state["at"] - 1

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.state = dict(state)


def scenario(dk):
    first, again = (dk.Loader(Keeping(), 2, seed=1) for _ in range(2))
    take(iter(first), 3)
    again.load_state_dict(first.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
