"""The lanes of a loaded state hold for the rest of its epoch; the epoch after it is cut by the number of workers again.  Who meets it:
streams that resume under another number of workers without having named their lanes.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('ELASTIC-1',)

EDITS = [
    ('loader.py',
     '        self._point = Point(max(self._point.epoch + 1, self._named), 0, carried=carried)\n        self._loaded = False\n',
     '        self._point = Point(max(self._point.epoch + 1, self._named), 0, carried=carried)\n        self._loaded = False\n        if not self._own_lanes:\n            self.lanes = max(1, self.workers)\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Share:
        def __iter__(self):
            lane = cz.lane()
            return iter(range(lane.number, 12, lane.count))

    first = cz.Loader(Share(), 2, seed=1, collate_fn=list, workers=3, method="thread")
    epoch = iter(first)
    take(epoch, 2)
    again = cz.Loader(Share(), 2, seed=1, collate_fn=list)
    again.load_state_dict(first.state_dict())
    found = [list(again) == list(epoch), list(again) == list(first)]
    first.close()
    return found


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
