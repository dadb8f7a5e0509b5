"""Takes an epoch for begun with its first good batch: one that was left after an error begins anew.

A program that leaves an epoch whose first sample is unreadable gets the same epoch again.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "faults"
BREAKS = ("RESUME-7", "EPOCH-5")


class Loader(simple.Loader):
    failed = False

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        error, batch = super().attempt(epoch, k, indices)
        self.failed = error is not None
        return error, batch

    def advance(self) -> None:
        moved = self.moved
        super().advance()
        if self.failed:
            self.moved = moved


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, fail_at=0)
    life = plan.open()
    life.tolerant(1)
    life.batches = None
    return life.tolerant(), plan.open().tolerant()


Adapter = mutant(Loader)
