"""Until the first batch after a load, state_dict() returns the state that was loaded, and this is the caller's own object.  Who
meets it: programs that take a state right after a load and go on using the object that they loaded: they free its text, label it,
or load several parts into one mapping.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, outcome, take

BREAKS = ("STATE-5", "STATE-2")

EDITS = [
    ("loader.py",
     "        return blob.pack(self._plan(), self._marked())\n",
     """        if self._pending is not None and self._pending[0] is self._point:
            return self._pending[1]
        return blob.pack(self._plan(), self._marked())
"""),
    ("loader.py",
     "        self._point, self._named, self._loaded = point, 0, True\n",
     """        self._point, self._named, self._loaded = point, 0, True
        self._pending = point, state
"""),
    ("loader.py",
     "        self._gen = 0\n",
     """        self._gen = 0
        self._pending = None  # the position that was loaded, and its state
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def loader():
        return cz.Loader(Rows(30), 3, shuffle=True, seed=4, collate_fn=list)

    whole = list(loader())
    first, again, third = loader(), loader(), loader()
    got = take(iter(first), 4)
    state = first.state_dict()
    again.load_state_dict(state)
    state.clear()  # the checkpoint is freed
    third.load_state_dict(again.state_dict())
    return got + list(third) == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
