"""Computes its position with NumPy after a load: the next state is no JSON any more.

The first checkpoint can be written, and the one after the restart raises.
"""

from typing import Any

import numpy
from ground import mutant, simple

FAMILY = "resumes of resumes"
BREAKS = ("STATE-3", "RESUME-2", "RESUME-3")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        super().load(state)
        self.batches = numpy.int64(self.batches)  # type: ignore[assignment]

    def check(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("batches"), numpy.integer):
            state = {**state, "batches": int(state["batches"])}
        super().check(state)


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    life = plan.open()
    life.take(1)
    second = plan.open(life.state())
    second.take(1)
    return type(second.state()["batches"]).__name__, "int"


Adapter = mutant(Loader)
