"""Counts only good batches in the rest of a resumed epoch.

A user who skips unreadable samples and is restarted twice gets batches twice.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "faults"
BREAKS = ("FAULT-5", "FAULT-11", "RESUME-7")


class Loader(simple.Loader):
    resumed = failed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = self.batches > 0

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        error, batch = super().attempt(epoch, k, indices)
        self.failed = error is not None
        return error, batch

    def advance(self) -> None:
        if self.failed and self.resumed:
            self.moved = True
            return
        super().advance()

    def next_epoch(self) -> None:
        super().next_epoch()
        self.resumed = self.failed = False


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2, fail_at=5)
    life = plan.open()
    life.take(1)
    second = plan.open(life.state())
    second.tolerant(3)
    return plan.open(second.state()).tolerant(), plan.open().tolerant()[4:]


Adapter = mutant(Loader)
