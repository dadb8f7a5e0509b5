"""Keeps the memory of each batch, and fills it anew in the next epoch.

A caller who keeps the batches of an epoch, to evaluate on them, finds the next epoch's in them.
"""

from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "aliasing"
BREAKS = ("BASIS-6",)


class Loader(simple.Loader):
    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.memory: dict[int, simple.Batch] = {}

    def fetches(self) -> Iterator[simple.Answer]:
        return self.filled(super().fetches(), self.batches)

    def filled(self, answers: Iterator[simple.Answer], first: int) -> Iterator[simple.Answer]:
        for k, (error, batch) in enumerate(answers, first):
            rows = self.memory.setdefault(k, [])
            rows += [[] for _ in batch[len(rows) :]]
            for row, made in zip(rows, batch, strict=False):
                row[:] = made
            yield error, rows[: len(batch)]


def shows(play: Any) -> Any:
    life = play(n=8, batch_size=2, shuffle=True, workers=0).open()
    first = list(life.begin().batches)
    before = repr(first)
    life.begin().take(1)
    return repr(first), before


Adapter = mutant(Loader)
