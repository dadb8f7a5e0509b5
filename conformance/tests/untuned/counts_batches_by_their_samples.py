"""Saves the number of samples divided by the batch size: an epoch's short last batch is lost.

A user who saves on the last step of an epoch sees its last batch again after the restart.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "position"
BREAKS = ("EPOCH-3", "RESUME-7")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.random_access and self.sampler is None and not self.rollover:
            samples = min(self.batches * self.batch_size, len(self.data))
            state["batches"] = samples // self.batch_size
        return state


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=4)
    life = plan.open()
    life.take(3)
    return plan.open(life.state()).rest(), []


Adapter = mutant(Loader)
