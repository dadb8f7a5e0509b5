"""Makes the batches of a resumed epoch without its tail rule: the short batch comes after all.

A user who drops incomplete batches meets one after a restart, and a model of fixed shape fails.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "tails"
BREAKS = ("RESUME-1", "RESUME-7", "EPOCH-3")


class Loader(simple.Loader):
    resumed: int | None = None

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = self.epoch if self.batches else None

    def order(self, epoch: int) -> list[list[int]]:
        if epoch != self.resumed or not self.drop_last:
            return super().order(epoch)
        self.drop_last = False
        try:
            return super().order(epoch)
        finally:
            self.drop_last = True


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=4, tail="drop", shuffle=True)
    life = plan.open()
    life.take(1)
    return plan.open(life.state()).rest(), plan.whole()[0][1:]


Adapter = mutant(Loader)
