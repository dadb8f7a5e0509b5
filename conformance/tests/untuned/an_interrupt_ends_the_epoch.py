"""Makes its batches in a generator, which an interrupt ends: the epoch is over.

A program that asks "really stop?" on Ctrl-C, and goes on, skips the rest of the epoch silently.
"""

from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "faults"
BREAKS = ("RESUME-7", "FAULT-2")


class Loader(simple.Loader):
    interrupted = False

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        try:
            return super().attempt(epoch, k, indices)
        except KeyboardInterrupt:
            self.interrupted = True
            raise

    def fetches(self) -> Iterator[simple.Answer]:
        if self.interrupted:
            self.interrupted = False
            return iter(())
        return super().fetches()


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    plan.interrupt_at(3)
    return [b for b in plan.open().tolerant() if b != "KeyboardInterrupt"], plan.whole()[0]


Adapter = mutant(Loader)
