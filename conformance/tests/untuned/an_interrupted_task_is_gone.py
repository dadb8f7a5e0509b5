"""Takes a task from its list before it runs it: an interrupt loses the task.

A program that asks "really stop?" on Ctrl-C, and goes on, meets an IndexError.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("RESUME-7", "FAULT-5")
EDITS = [
    ("workers/inline.py", "run(self._tasks[0])", "run(self._tasks.popleft())"),
    ("workers/inline.py", "        self._tasks.popleft()\n        self._t", "        self._t"),
]


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    plan.interrupt_at(3)
    return [b for b in plan.open().tolerant() if b != "KeyboardInterrupt"], plan.whole()[0]


Adapter = edited(EDITS)
