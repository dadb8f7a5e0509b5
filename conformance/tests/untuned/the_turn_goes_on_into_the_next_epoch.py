"""Leaves the turn where an epoch ended; a loaded epoch begins with the first reader.

After a restart between two epochs the batches come in another order than without it.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("EPOCH-2", "EPOCH-1", "EPOCH-3", "RESUME-7")


class Loader(readers.Loader):
    def next_epoch(self) -> None:
        turn = self.turn
        super().next_epoch()
        self.turn = turn

    def load(self, state: Any) -> None:
        super().load(state)
        if not any(entry["batches"] for entry in self.entries):
            self.turn = 0


def shows(play: Any) -> Any:
    plan = play(kind="iterable", stream="uneven", n=9, batch_size=1, workers=3)
    life = plan.open()
    life.rest()
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1]


Adapter = readers.mutant(loader=Loader)
