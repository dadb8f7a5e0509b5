"""Guards a sample against StopIteration in the fresh epoch only; its resuming path has no guard.

An epoch with such a sample raises in the first run, and ends early and silently in the resumed one.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "faults"
BREAKS = ("FAULT-3", "FAULT-2", "RESUME-7")


class Loader(simple.Loader):
    resumed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = self.batches > 0

    def sample(self, epoch: int, i: int) -> list[float]:
        if not self.resumed:
            return super().sample(epoch, i)
        return list(self.copy.row(i, self.own_source(epoch, i)))


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2, stop_at=7)
    life = plan.open()
    life.take(1)
    return plan.open(life.state()).tolerant(), plan.open().tolerant()[1:]


Adapter = mutant(Loader)
