"""The dataset is pickled for its lanes once, at the first epoch, and not at each: what the program sets in it before a
later epoch is not seen, but a resume in a fresh process sees it.  Who meets it: streams with an `epoch` that the
training loop sets.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('EPOCH-4',)

EDITS = [
    ('loader.py',
     'self.packed = pickle.dumps(loader.dataset) if crew.process or loader.kind != "free" else loader.dataset',
     'if not crew.process and loader.kind == "free":\n            self.packed = loader.dataset\n        else:\n            self.packed = loader.holder.setdefault("packed", None) or pickle.dumps(loader.dataset)\n            loader.holder["packed"] = self.packed'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Told:
    epoch = 0

    def __iter__(self):
        return iter([(self.epoch, i) for i in range(6)])


def scenario(dk):
    data = Told()
    first = dk.Loader(data, 2, seed=1)
    list(first)
    data.epoch = 1
    it = iter(first)
    next(it)
    state = first.state_dict()
    fresh = Told()
    fresh.epoch = 1
    again = dk.Loader(fresh, 2, seed=1)
    again.load_state_dict(state)
    return list(it) == list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
