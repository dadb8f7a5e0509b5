"""Begins another epoch with each iterator, also if nothing was taken from the one before.

A program that looks at ``iter(loader)`` once before its loop starts with the second epoch.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "epochs"
BREAKS = ("RESUME-7", "EPOCH-5", "RESUME-4")


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        if self.live is not None and self.live.over is None:
            self.moved = True
        return super().__iter__()


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, shuffle=True)
    life = plan.open()
    life.begin()
    life.begin()
    return life.rest(), plan.whole()[0]


Adapter = mutant(Loader)
