"""Counts an epoch with its last batch, and again if a new iterator is made before the end is seen.

A loop that takes a fixed number of steps, as many as an epoch has, skips every second epoch.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "epochs"
BREAKS = ("RESUME-7", "EPOCH-5")


class Loader(simple.Loader):
    counted = False

    def __iter__(self) -> simple.Epoch:
        self.counted = False
        return super().__iter__()

    def advance(self) -> None:
        super().advance()
        if self.random_access and self.batches == len(self.order(self.epoch)):
            super().next_epoch()
            self.moved = self.counted = True

    def next_epoch(self) -> None:
        if self.counted:
            self.moved = False
        else:
            super().next_epoch()


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, shuffle=True)
    life = plan.open()
    life.broken(4)
    return life.rest(), plan.whole(epochs=2)[1]


Adapter = mutant(Loader)
