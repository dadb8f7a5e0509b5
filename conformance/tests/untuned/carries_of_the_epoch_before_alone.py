"""Works out what rolls over from one epoch alone, and not from what that epoch had been carried.

A user of rollover sees samples twice, and others never, from the third epoch on.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "tails"
BREAKS = ("EPOCH-6", "EPOCH-7", "BASIS-3")


class Loader(simple.Loader):
    def carried(self, epoch: int) -> list[int]:
        if not self.rollover or not epoch:
            return []
        before = self.indices(epoch - 1)
        return before[len(before) // self.batch_size * self.batch_size :]


def shows(play: Any) -> Any:
    plan = play(n=5, batch_size=3, tail="rollover")
    seen = [row[0] for epoch in plan.whole(epochs=3) for batch in epoch for row in batch]
    return sorted(seen), sorted([*range(5)] * 3)


Adapter = mutant(Loader)
