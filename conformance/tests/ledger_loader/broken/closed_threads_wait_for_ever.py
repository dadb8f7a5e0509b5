"""Closing sets a flag that a thread looks at when it gets the next ticket, and there is no next ticket: the threads stay.
Who meets it: evaluation loops that make a loader with threads each time.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, Walk, build, outcome, take

BREAKS = ('FAULT-7',)

EDITS = [
    ('crew.py',
     '        for inbox in self.inboxes:\n            inbox.put(None)\n        for t in self.threads:\n            t.join(10)\n',
     '        self.threads.clear()\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(dk):
    import threading
    import time
    before = threading.active_count()
    for _ in range(3):
        loader = dk.Loader(Rows(6), 2, workers=2, kind="thread")
        list(loader)
        loader.close()
    time.sleep(0.2)
    return threading.active_count() - before


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
