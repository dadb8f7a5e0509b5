"""Restores the epoch of the order and not the one that random numbers are drawn for.

After a restart in a later epoch the right samples come, augmented as in the first epoch.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "random numbers"
BREAKS = ("VOWN-1", "VAMB-1", "EPOCH-1", "EPOCH-2", "EPOCH-4")


class Loader(simple.Loader):
    drawn = 0

    def next_epoch(self) -> None:
        super().next_epoch()
        self.drawn += 1

    def own_source(self, epoch: int, i: int) -> Any:
        return super().own_source(self.drawn, i)

    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        with super().seeded(self.drawn, k):
            yield


def shows(play: Any) -> Any:
    plan = play(n=6, batch_size=2, draws=("own",))
    life = plan.open()
    life.rest()
    life.take(1)
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1][1:]


Adapter = mutant(Loader)
