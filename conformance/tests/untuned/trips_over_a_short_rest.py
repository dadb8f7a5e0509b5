"""Hands out a full window of tasks before it looks how many are left.

A restart near an epoch's end, with fewer batches left than are read ahead, raises IndexError.
"""

from collections.abc import Iterator
from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "workers"
BREAKS = ("RESUME-1", "RESUME-7", "EPOCH-3", "BASIS-1")


class Loader(simple.Loader):
    loaded = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = True

    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        if self.loaded:
            self.loaded = False
            first = [tasks[i] for i in range(self.workers * self.prefetch)]
            assert first == tasks[: len(first)]
        return super().pooled(tasks)


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, workers=2)
    life = plan.open()
    life.take(4)
    return outcome(lambda: plan.open(life.state()).rest()), plan.whole()[0][4:]


Adapter = mutant(Loader)
