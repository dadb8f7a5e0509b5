"""Guards the samples of a batch against StopIteration, and not a sample that is delivered alone.

Without automatic batching an epoch with such a sample ends there, as if that were its end.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-3", "FAULT-2")
EDITS = [
    (
        "lane/lane.py",
        "samples = _guarded(get, task.keys)",
        "guarded = _guarded if self.spec.automatic else lambda function, keys: function(keys)\n"
        "            samples = guarded(get, task.keys)",
    ),
]


def shows(play: Any) -> Any:
    return len(play(n=6, batch_size=0, stop_at=3).open().tolerant()), 6


Adapter = edited(EDITS)
