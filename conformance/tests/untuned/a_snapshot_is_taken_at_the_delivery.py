"""Asks a reader for its state when a batch is delivered, and not when the reader has made it.

The reader is some batches ahead by then: a restart leaves out what was read ahead.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "BASIS-3")


class Loader(readers.Loader):
    def delivered(self, number: int, made: readers.Made) -> None:
        if made.states is not None and self.live is not None and self.live.readers is not None:
            made.states = self.live.readers[number].states()
        super().delivered(number, made)


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=24, batch_size=2, workers=2)
    life = plan.open()
    life.take(4)
    return plan.open(life.state()).rest(), plan.whole()[0][4:]


Adapter = readers.mutant(loader=Loader)
