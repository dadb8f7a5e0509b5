"""Replaces a dead worker, but skips the batch that the worker was making."""

from collections.abc import Iterator
from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-8"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 1}
LOST: simple.Answer = (None, [])


class Pool(simple.Pool):
    def replace(self, worker: int) -> None:
        self.asked[worker].pop(0)
        super().replace(worker)

    def receive(self, worker: int) -> simple.Answer:
        return super().receive(worker) if self.asked[worker] else LOST


class Loader(simple.Loader):
    def pool(self) -> simple.Pool:
        return Pool(self, self.workers)

    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        return (answer for answer in super().pooled(tasks) if answer is not LOST)


Adapter = mutant(Loader)
