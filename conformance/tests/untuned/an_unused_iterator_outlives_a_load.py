"""Ends a live iterator at a load only if it has delivered something.

A trainer that makes its iterator first, and loads then, trains on from the start of the epoch.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "position"
BREAKS = ("RESUME-5", "RESUME-7", "RESUME-8")


class Loader(simple.Loader):
    def __iter__(self) -> simple.Epoch:
        live = super().__iter__()
        live.source = self.fetches()
        return live

    def load(self, state: Any) -> None:
        live = self.live
        keeps = live is not None and not self.moved and live.over is None
        if keeps:
            self.live = None
        super().load(state)
        if keeps:
            self.live = live


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2)
    life = plan.open()
    life.take(3)
    late = plan.open().begin()
    late.session.load(life.state())
    first = outcome(lambda: next(late.batches))
    return first in ("RuntimeError", [[6], [7]]), True


Adapter = mutant(Loader)
