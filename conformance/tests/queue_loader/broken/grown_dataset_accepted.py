"""A state within an epoch is accepted if the dataset has grown since: the new samples come last, so all before stay at their places.
This is so in order; a shuffled epoch is a permutation of the length.  Who meets it: shuffled datasets to which samples were added
between the save and the restart: some are delivered twice in that epoch, and others not at all.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, outcome, take

BREAKS = ("REFUSE-3",)

EDITS = [
    ("loader.py",
     "        if inside and point.length != self._length():\n",
     "        if inside and point.length != self._length() and not self._grown(point):\n"),
    ("loader.py",
     "        if self._point.batches and self._point.length != self._length():\n",
     "        if self._point.batches and self._point.length != self._length() and not self._grown(self._point):\n"),
    ("loader.py",
     "    def _plan(self):\n",
     '''    def _grown(self, point):
        """Whether the dataset has more samples now: they come after those that it had."""
        n = self._length()
        return n is not None and point.length is not None and n > point.length

    def _plan(self):
'''),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def loader(n):
        return cz.Loader(Rows(n), 4, shuffle=True, seed=4, collate_fn=list)

    first, again = loader(40), loader(48)
    got = take(iter(first), 5)
    try:
        again.load_state_dict(first.state_dict())
    except cz.StateError:
        return True
    return sorted(i for batch in got + list(again) for i in batch) == list(range(48))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
