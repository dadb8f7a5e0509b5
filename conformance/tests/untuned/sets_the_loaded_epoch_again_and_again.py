"""Sets the sampler's loaded epoch each time that it draws an order, also after ``set_epoch``.

After a restart every epoch has the order of the one that was interrupted.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-1", "WORLD-1", "RESUME-7")


class Loader(simple.Loader):
    loaded: int | None = None

    def state(self) -> dict[str, Any]:
        return {**super().state(), "sampler epoch": getattr(self.sampler, "epoch", None)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = state["sampler epoch"]

    def indices(self, epoch: int) -> list[int]:
        if self.loaded is not None:
            self.sampler.epoch = self.loaded
        return super().indices(epoch)


def shows(play: Any) -> Any:
    plan = play(n=9, batch_size=2, shuffle=True, sampler="distributed", world=1)
    life = plan.open()
    life.take(2)
    resumed = plan.open(life.state())
    resumed.rest()
    return resumed.rest(), plan.whole(epochs=2)[1]


Adapter = mutant(Loader)
