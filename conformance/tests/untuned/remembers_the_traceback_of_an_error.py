"""Keeps the last error with its traceback in its state: such a state cannot be saved.

After one unreadable sample every checkpoint fails.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "faults"
BREAKS = ("FAULT-5", "FAULT-11", "STATE-3", "RESUME-7")


class Loader(simple.Loader):
    trouble: Any = None

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        error, batch = super().attempt(epoch, k, indices)
        if error is not None:
            self.trouble = error.__traceback__
        return error, batch

    def state(self) -> dict[str, Any]:
        return {**super().state(), "trouble": self.trouble}


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, fail_at=0)
    life = plan.open()
    life.tolerant(2)
    return outcome(lambda: plan.open(life.state()).rest()), plan.open().tolerant()[2:]


Adapter = mutant(Loader)
