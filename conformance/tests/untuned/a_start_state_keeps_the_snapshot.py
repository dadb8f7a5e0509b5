"""Replaces its snapshot at a load only if the state has one.

A rollback to the start of an epoch, in a loader that had resumed, begins in the middle.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "resumes of resumes"
BREAKS = ("RESUME-6", "RESUME-7")


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        before = self.snapshot
        super().load(state)
        self.snapshot = self.snapshot or before


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=12, batch_size=2)
    life = plan.open()
    start = life.state()
    life.take(3)
    life.load(start)
    return life.rest(), plan.whole()[0]


Adapter = mutant(Loader)
