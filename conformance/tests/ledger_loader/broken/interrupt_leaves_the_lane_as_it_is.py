"""Only errors bring the lanes back to what was delivered, an interrupt does not.  Who meets it: people who stop a run by
hand in the middle of a batch of a stream, look, and go on.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-12',)

EDITS = [
    ('loader.py',
     '        except BaseException:\n            self.stop()\n            raise\n',
     '        except Exception:\n            self.stop()\n            raise\n        except BaseException:\n            if self.desk is not None and self.crew.inline:  # the request is made again\n                self.desk.issued = {lane: s.made for lane, s in (self.ledger.stands or {}).items()}\n                self.desk.owner = {}\n                self.desk.next = self.ledger.low\n            raise\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Pressed:
    """The user interrupts once, while row 3 is read."""

    once = []

    def __iter__(self):
        return PressedIterator()


class PressedIterator:
    i = -1

    def __iter__(self):
        return self

    def __next__(self):
        self.i += 1
        if self.i == 3 and not Pressed.once:
            Pressed.once.append(1)
            raise KeyboardInterrupt
        if self.i >= 8:
            raise StopIteration
        return self.i


def scenario(dk):
    Pressed.once.clear()
    loader, found = dk.Loader(Pressed(), 2, seed=1), []
    it = iter(loader)
    while True:
        try:
            for batch in it:
                found.append(batch)
            return found
        except KeyboardInterrupt:
            pass


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
