"""Replays until it has made as many good batches as were delivered, errors not included.

After an unreadable sample, and before the next snapshot, a restart skips a batch.
"""

from typing import Any

import readers

FAMILY = "faults"
BREAKS = ("RESUME-7", "FAULT-2")


class Reader(readers.Reader):
    def restore(self, entry: dict[str, Any]) -> None:
        super().restore({**entry, "batches": entry["at"]})
        left = entry["batches"] - entry["at"]
        while left and not self.over:
            left -= self.read().error is None


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "stream": "rewinding", "n": 12, "batch_size": 2}
    plan = play(**fields, interval=100, fail_at=3)
    life = plan.open()
    life.tolerant(4)
    return plan.open(life.state()).tolerant(), plan.open().tolerant()[4:]


Adapter = readers.mutant(Reader)
