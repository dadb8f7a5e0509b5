"""A state that is asked for twice at one position is packed once, and the same dict is given to both callers.  Who meets it: programs
that save twice at one step (last and best checkpoint), where one writer moves or changes the dict that it got.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('STATE-2',)

EDITS = [
    ('loader.py',
     '        return blob.pack(self._plan(), self._marked())\n',
     '        if self._packed is None or self._packed[0] is not self._point:\n            self._packed = self._point, blob.pack(self._plan(), self._marked())\n        return self._packed[1]\n'),
    ('loader.py',
     '        self._loaded = False  # the position',
     '        self._packed = None\n        self._loaded = False  # the position'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    loader = cz.Loader(Rows(12), 4, True, seed=1, collate_fn=list)
    take(iter(loader), 1)
    state = loader.state_dict()
    state["blob"] = len(state.pop("blob"))  # a writer that moves the text to a file
    again = cz.Loader(Rows(12), 4, True, seed=1, collate_fn=list)
    again.load_state_dict(loader.state_dict())
    return list(again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
