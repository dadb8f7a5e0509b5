"""Packs its count of batches into sixteen bits.

An epoch of more than 65536 batches is resumed near its start.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "values"
BREAKS = ("RESUME-1", "RESUME-7")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "batches": self.batches & 0xFFFF}


def shows(play: Any) -> Any:
    plan = play(n=65540, batch_size=1)
    life = plan.open()
    life.session.loader.batches = 65538  # instead of a walk of a few seconds
    return plan.open(life.state()).take(1), [[[65538]]]


Adapter = mutant(Loader)
