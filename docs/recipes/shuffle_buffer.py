"""A shuffle buffer whose state holds the places of its samples, not the samples."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset


class ShuffleBuffer(IterableDataset[Any]):
    """Delivers random samples of the next ``size`` ones, of a source whose iterator has a state."""

    def __init__(self, source: IterableDataset[Any], size: int) -> None:
        self.source = source
        self.size = size

    def __iter__(self) -> Iterator[Any]:
        return _Pass(iter(self.source), self.size)


class _Pass(Iterator[Any]):
    def __init__(self, source: Any, size: int) -> None:
        self.source, self.size = source, size
        self.every = max(100, size // 10)  # the samples between two marks
        # The loader seeds torch's stream for each epoch and lane before it calls iter().
        self.random = np.random.default_rng(int(torch.randint(2**31, ())))
        self.read = 0
        self.buffer: list[tuple[int, Any]] = []  # samples with their places in the source
        self.marks: list[tuple[int, Any]] = []  # states of the source with their places

    def __next__(self) -> Any:
        with suppress(StopIteration):
            while len(self.buffer) < self.size:
                self.buffer.append(self._draw())
        if not self.buffer:
            raise StopIteration
        chosen = int(self.random.integers(len(self.buffer)))
        self.buffer[chosen], self.buffer[-1] = self.buffer[-1], self.buffer[chosen]
        return self.buffer.pop()[1]

    def _draw(self) -> tuple[int, Any]:
        if not self.marks or self.read >= self.marks[-1][0] + self.every:
            self.marks = [*self._needed(), (self.read, self.source.state_dict())]
        sample = next(self.source)
        self.read += 1
        return self.read - 1, sample

    def _needed(self) -> list[tuple[int, Any]]:
        """Return the marks from the last one before the oldest sample on."""
        oldest = min((place for place, _ in self.buffer), default=self.read)
        before = [number for number, (place, _) in enumerate(self.marks) if place <= oldest]
        return self.marks[before[-1] :] if before else []

    def state_dict(self) -> dict[str, Any]:
        mark = self._needed()[:1] or [(self.read, self.source.state_dict())]
        places, random = [place for place, _ in self.buffer], self.random.bit_generator.state
        return {"mark": mark[0], "read": self.read, "places": places, "random": random}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.read, source = state["mark"]
        self.source.load_state_dict(source)
        self.marks = [(self.read, source)]
        wanted = set(state["places"])
        self.buffer = [(place, None) for place in wanted]  # which marks are needed still
        drawn = (self._draw() for _ in range(self.read, state["read"]))
        again = {place: sample for place, sample in drawn if place in wanted}
        self.buffer = [(place, again[place]) for place in state["places"]]
        self.random.bit_generator.state = state["random"]
