"""Asks an iterator for its state only if the dataset has none.

A dataset that has a state beside its iterator's is resumed at the epoch's start.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-7", "STATE-6")


class Reader(readers.Reader):
    def states(self) -> dict[str, Any]:
        states = super().states()
        if "dataset" in states:
            states.pop("iterator", None)
        return states


class Loader(readers.Loader):
    def parts(self) -> list[str]:
        return super().parts()[:1]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", state_at="both", n=10, batch_size=2)
    life = plan.open()
    life.take(2)
    return plan.open(life.state()).rest(), plan.whole()[0][2:]


Adapter = readers.mutant(Reader, Loader)
