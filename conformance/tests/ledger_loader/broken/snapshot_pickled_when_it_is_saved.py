"""A snapshot is serialised when a state is taken and not when it is made.  A dataset that hands out one object and goes on
changing it has moved on by then, where the lane is in the same process and something was made ahead.  Who meets it:
threads as workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('STATE-6',)

EDITS = [
    ('hand.py',
     '            return pickle.dumps(parts) if parts else None\n        except',
     '            return parts or None\n        except'),
    ('hand.py',
     '            parts, mixed = pickle.loads(stand.snapshot) if stand.snapshot is not None else {}, None\n',
     '            parts, mixed = stand.snapshot if stand.snapshot is not None else {}, None\n'),
    ('hand.py',
     'parts = pickle.loads(mixed[0]) if mixed[0] is not None else {}',
     'parts = mixed[0] if mixed[0] is not None else {}'),
    ('hand.py',
     'return pickle.dumps({"mix": (self.captured, self.origin, self.given, list(self.faults))})',
     'return {"mix": (self.captured, self.origin, self.given, list(self.faults))}'),
    ('ledger.py',
     '"snapshot": text(s.snapshot),',
     '"snapshot": text(None if s.snapshot is None else pickle.dumps(s.snapshot)),'),
    ('ledger.py',
     's["made_at"], blob(s["snapshot"]),',
     's["made_at"],\n                                          None if s["snapshot"] is None else pickle.loads(blob(s["snapshot"])),'),
]

sound, broken, Adapter = build(__file__, EDITS)


class One(Walk):
    """Hands out one object, and goes on changing it."""

    def __init__(self, n):
        super().__init__(n)
        self.box = {"at": 0}

    def __iter__(self):
        for i in super().__iter__():
            self.box["at"] = self.at
            yield i

    def state_dict(self):
        return self.box

    def load_state_dict(self, state):
        self.loaded = state["at"]


def scenario(dk):
    import time
    first = dk.Loader(One(12), 2, seed=1, workers=1, kind="thread", prefetch=3)
    it = iter(first)
    next(it)
    time.sleep(0.3)
    state = first.state_dict()
    first.close()
    again = dk.Loader(One(12), 2, seed=1, workers=0)
    again.load_state_dict(state)
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
