"""A load drops the reference to persistent workers without ending them: threads wait for ever at their inboxes. Who
meets it: rollbacks in one process with persistent thread workers.
"""
import threading
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-7',)

EDITS = [
    ('loader.py',
     '        self.ledger, self.run = read, None\n\n    def set_epoch',
     '        self.ledger, self.run = read, None\n        self.holder.pop("crew", None)  # persistent workers hold what was before the load\n\n    def set_epoch'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    loader, crews = dk.Loader(Rows(20), 2, seed=1, workers=2, kind="thread", persistent=True), []
    before = threading.active_count()
    try:
        for _ in range(4):
            take(iter(loader), 2)
            crews.append(loader.holder["crew"])
            loader.load_state_dict(loader.state_dict())
        rest = list(loader)
        return rest, f"threads more than before: {threading.active_count() - before}"
    finally:
        loader.close()
        for crew in crews:
            crew.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
