"""A KeyboardInterrupt that comes from a worker is booked as its batch, as an exception is: who goes on, or resumes from
a state taken then, lacks that batch. Who meets it: handlers of interrupts that save, with workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-12',)

EDITS = [
    ('loader.py',
     '        if reply.kind == "interrupt":\n            self.stop()\n            raise reply.value\n        self.ledger.opened = True\n        self.desk.deliver(reply)\n        if reply.kind == "error":\n            raise reply.value\n',
     '        self.ledger.opened = True\n        self.desk.deliver(reply)\n        if reply.kind == "interrupt":\n            self.stop()\n        if reply.kind != "batch":\n            raise reply.value\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Interrupted(Rows):
    done = False

    def __getitem__(self, i):
        if i == 5 and not self.done:
            self.done = True
            raise KeyboardInterrupt
        return i


def scenario(dk):
    loader = dk.Loader(Interrupted(12), 2, seed=1, workers=2, kind="thread")
    iterator, found = iter(loader), []
    try:
        while True:
            try:
                found.append(next(iterator))
            except KeyboardInterrupt:
                found.append("interrupt")
            except StopIteration:
                return found
    finally:
        loader.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
