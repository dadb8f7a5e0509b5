"""Asks the newest iterator for the position, and adds what was loaded at its first batch alone.

A job that is preempted after ``iter(loader)`` and before the first batch saves the beginning of
the epoch: the next restart shows all of its samples again.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "resumes of resumes"
BREAKS = ("RESUME-3", "STATE-4", "RESUME-2", "RESUME-7")


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.live is not None and self.live.source is None and not self.moved:
            state.update(batches=0, snapshot=None)
        return state


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2)
    life = plan.open()
    life.take(2)
    second = plan.open(life.state()).begin()
    return plan.open(second.state()).rest(), plan.whole()[0][2:]


Adapter = mutant(Loader)
