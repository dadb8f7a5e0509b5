"""A loader that was built without a seed takes the one of a loaded state when it is iterated, and writes its own one into a state that
is taken before.  Who meets it: jobs without a seed that are preempted twice in quick succession.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('STATE-4', 'RESUME-3')

EDITS = [
    ('loader.py',
     '        self.seed = plan["seed"]\n        if self.cut',
     '        self._adopted = plan["seed"]\n        if self.cut'),
    ('loader.py',
     '        run, broken = self._run, False\n',
     '        run, broken = self._run, False\n        self.seed, self._adopted = self.seed if self._adopted is None else self._adopted, None\n'),
    ('loader.py',
     '        self._loaded = False  # the position',
     '        self._adopted = None\n        self._loaded = False  # the position'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    first = cz.Loader(Rows(20), 4, True, collate_fn=list)
    epoch = iter(first)
    take(epoch, 2)
    again = cz.Loader(Rows(20), 4, True, collate_fn=list)
    again.load_state_dict(first.state_dict())
    last = cz.Loader(Rows(20), 4, True, collate_fn=list)
    last.load_state_dict(again.state_dict())
    return list(last) == list(epoch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
