"""Cuts the rest of a resumed epoch into batches, and makes one of nothing at all.

After a restart from the state of an epoch's last batch the model gets a batch without samples.
"""

from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "epochs"
BREAKS = ("EPOCH-3", "RESUME-7")


class Loader(simple.Loader):
    def access(self, done: int) -> Iterator[simple.Answer]:
        if done and done == len(self.order(self.epoch)):
            return iter([self.attempt(self.epoch, done, [])])
        return super().access(done)


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    life = plan.open()
    life.take(4)
    return plan.open(life.state()).rest(), []


Adapter = mutant(Loader)
