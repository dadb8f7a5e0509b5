"""Saves its seed as a float, and continues with the loaded one.

With a seed from the clock, which has more than 53 bits, the rest of an epoch has another order.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "values"
BREAKS = ("RESUME-1", "RESUME-7", "EPOCH-4")


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        return {**super().plan(), "seed": float(self.seed)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.seed = int(state["plan"]["seed"])


def shows(play: Any) -> Any:
    plan = play(n=20, batch_size=2, shuffle=True, seed=1763827200123456789)
    life = plan.open()
    life.take(2)
    return plan.open(life.state()).rest(), plan.whole()[0][2:]


Adapter = mutant(Loader)
