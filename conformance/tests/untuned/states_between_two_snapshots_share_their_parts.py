"""Copies a state's top level only: the snapshot inside is the loader's own.

A checkpoint library that moves the tensors of a state away in place changes the next state as well.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS = ("STATE-2",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        snapshot = None if self.snapshot is None else dict(self.snapshot)
        return {**super().state(), "snapshot": snapshot}


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=10, batch_size=2)
    life = plan.open()
    life.take(2)
    life.session.state()["snapshot"]["states"]["dataset"]["position"] = 0
    return plan.open(life.state()).rest(), plan.whole()[0][2:]


Adapter = mutant(Loader)
