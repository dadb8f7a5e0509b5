"""Keeps in its state one number for each epoch that it went through.

The checkpoints of a run over many short epochs grow without end.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-1",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "seeds": [hash((self.seed, e)) for e in range(self.epoch)]}


def shows(play: Any) -> Any:
    life = play(n=2, batch_size=2).open()
    first = len(repr(life.state()))
    for _ in range(300):
        life.rest()
    return len(repr(life.state())) - first > 1000, False


Adapter = mutant(Loader)
