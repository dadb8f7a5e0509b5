"""Fills a rank's share up to the others' length in a fresh epoch, and not in a resumed one.

After a restart one rank has a sample less than the others, and they wait for it for ever.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-1", "EPOCH-3", "RESUME-7", "EPOCH-1")


class Loader(simple.Loader):
    resumed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = True

    def indices(self, epoch: int) -> list[int]:
        indices, world = super().indices(epoch), getattr(self.sampler, "world", 1)
        padded = 0 < len(self.data) % world <= getattr(self.sampler, "rank", 0)
        return indices[:-1] if self.resumed and padded else indices


def shows(play: Any) -> Any:
    plan = play(n=9, batch_size=2, sampler="distributed", world=2, rank=1)
    life = plan.open()
    life.take(1)
    return plan.open(life.state()).rest(), plan.whole()[0][1:]


Adapter = mutant(Loader)
