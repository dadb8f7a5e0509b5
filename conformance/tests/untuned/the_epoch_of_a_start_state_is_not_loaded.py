"""Takes the epoch from a state only if the state is from within one.

A run that saves between two epochs, as most do, resumes with the order of the first one. A loader
that was used goes on with the epoch that it was in.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "position"
BREAKS = ("EPOCH-2", "EPOCH-4", "RESUME-6", "RESUME-7", "STATE-4")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        before = self.epoch
        super().load(state)
        if not self.batches:
            self.epoch = before


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2, shuffle=True)
    life = plan.open()
    life.rest()
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1]


Adapter = mutant(Loader)
