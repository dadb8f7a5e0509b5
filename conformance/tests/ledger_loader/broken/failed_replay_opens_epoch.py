"""An exception while delivered batches are made again marks the epoch as begun by this process, as that of a batch does:
a new iterator breaks it off. Who meets it: a disk that cannot be read for a moment at a restart, and a program that
tries again.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-13',)

EDITS = [
    ('loader.py',
     '        except BaseException:\n            self.stop()\n            raise\n        if reply is None:\n',
     '        except BaseException:\n            self.ledger.opened = True\n            self.stop()\n            raise\n        if reply is None:\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


DOWN = []


class Flaky:
    def __iter__(self):
        for i in range(12):
            if i == 1 and DOWN:
                raise OSError("not now")
            yield i


def scenario(dk):
    first, again = (dk.Loader(Flaky(), 2, seed=1) for _ in range(2))
    DOWN.clear()
    take(iter(first), 3)
    again.load_state_dict(first.state_dict())
    DOWN.append(1)
    failed = outcome(list, again)
    DOWN.clear()
    return failed, outcome(list, again)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
