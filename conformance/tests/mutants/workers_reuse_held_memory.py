"""Lets workers reuse a delivered batch's shared memory two batches later."""

import mmap
from collections.abc import Iterator
from typing import Any

import numpy
from base import mutant, simple

EXPECTED = "BASIS-6"
LARGEST = {"workers": 1, "sessions": 1, "steps": 2, "samples": 2}
FIELD = ()
WIDEST = 4096


class Loader(simple.Loader):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.slots = self.workers * self.prefetch + 2
        shape = (self.slots, self.batch_size, WIDEST)
        memory = mmap.mmap(-1, 8 * self.slots * self.batch_size * WIDEST)
        self.memory = numpy.frombuffer(memory).reshape(shape)

    def slot(self, epoch: int, k: int) -> Any:
        return self.memory[(epoch + k) % self.slots]

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        error, rows = super().attempt(epoch, k, indices)
        if rows:
            self.slot(epoch, k)[: len(rows), : len(rows[0])] = rows
        return error, rows

    def pooled(self, tasks: list[Any]) -> Iterator[Any]:
        for (epoch, k, _), (error, rows) in zip(tasks, super().pooled(tasks), strict=True):
            width = len(rows[0]) if rows else 0
            yield error, self.slot(epoch, k)[: len(rows), :width]


Adapter = mutant(Loader)
