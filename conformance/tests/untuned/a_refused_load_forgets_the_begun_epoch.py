"""Forgets that an epoch was begun before it has looked at the state that it then refuses.

A program that tries an old checkpoint, and starts the next epoch instead, gets the old one's rest.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "RESUME-7")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        self.moved = False
        super().load(state)


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, shuffle=True)
    life = plan.open()
    life.broken(1)
    outcome(lambda: life.session.load({"no": "state"}))
    return life.rest(), plan.whole(epochs=2)[1]


Adapter = mutant(Loader)
