"""Notes the length of an epoch in batches, as ``len(loader)`` has it, and compares that.

A dataset that has a sample more than before has as many batches: the state is accepted, and goes on
at its place in another shuffled order.
"""

from typing import Any

import ground
from ground import simple
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-3",)


class Loader(simple.Loader):
    def plan(self) -> dict[str, Any]:
        plan = super().plan()
        if plan["length"] is not None:
            plan["length"] = -(-plan["length"] // self.batch_size)
        return plan


def shows(play: Any) -> Any:
    life = play(kind="map", n=13, batch_size=4, shuffle=True).open()
    life.take(2)
    return outcome(lambda: play(kind="map", n=14, batch_size=4, shuffle=True).open(life.state())), (
        "StateError"
    )


Adapter = ground.mutant(Loader)
