"""The samples that were carried into an epoch leave the position with the first batch, which has delivered them.  The live feed
has them still; a resumed one counts its batches as if the epoch had begun without them.  Who meets it: tail="rollover" and a state
from the second epoch on, in the middle of it.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, outcome, take

BREAKS = ("EPOCH-4", "EPOCH-6", "EPOCH-7")

EDITS = [
    ("loader.py",
     "lanes=lanes, turn=turn, sampler=None)\n",
     "lanes=lanes, turn=turn, sampler=None,\n                                      carried=())\n"),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def loader():
        return cz.Loader(Rows(22), 4, shuffle=True, tail="rollover", seed=2, collate_fn=list)

    once = loader()
    whole = [list(once) for _ in range(3)]
    first, again = loader(), loader()
    list(first)
    got = take(iter(first), 2)
    again.load_state_dict(first.state_dict())
    return [got + list(again), list(again)] == whole[1:]


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
