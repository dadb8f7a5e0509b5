"""A load adopts the seed and the lanes that the user did not give, and then compares the plans, which is simpler: what was adopted is
equal.  If the plans differ in something else, the state is refused, and its seed and lanes stay.  Who meets it: loaders without a
seed= in programs that try to resume, catch the refusal and go on with what they have.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, outcome, take

BREAKS = ("REFUSE-4",)

EDITS = [
    ("loader.py",
     "        mine = self._plan()\n",
     """        if not self._own_seed:
            self.seed = plan["seed"]
        if self.cut and not self._own_lanes and plan["lanes"]:
            self.lanes = plan["lanes"]
        mine = self._plan()
"""),
    ("loader.py",
     """            if a == b or (key == "seed" and not self._own_seed) or (key == "lanes" and not self._own_lanes and a and b):
""",
     """            if a == b:
"""),
    ("loader.py",
     """        self.seed = plan["seed"]
        if self.cut:
            self.lanes = plan["lanes"]
        self._point, self._named""",
     """        self._point, self._named"""),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def loader(size):
        return cz.Loader(Rows(40), size, shuffle=True, collate_fn=list)

    other, mine = loader(5), loader(4)
    take(iter(other), 2)
    got = take(iter(mine), 4)
    try:
        mine.load_state_dict(other.state_dict())
    except cz.StateError:
        pass
    again = loader(4)
    again.load_state_dict(mine.state_dict())
    return sorted(i for batch in got + list(again) for i in batch) == list(range(40))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
