"""Takes KeyboardInterrupt for an error of the dataset: the batch counts as delivered.

A user who presses Ctrl-C and saves loses the batch that was being made.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "faults"
BREAKS = ("RESUME-7", "FAULT-5", "FAULT-12")


class Loader(simple.Loader):
    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        try:
            return None, self.fetch(epoch, k, indices)
        except BaseException as error:
            return error, []  # type: ignore[return-value]


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    plan.interrupt_at(3)
    life = plan.open()
    life.tolerant(2)
    return plan.open(life.state()).rest(), plan.whole()[0][1:]


Adapter = mutant(Loader)
