"""A weighted mixture of several sources."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset


class Mixture(IterableDataset[Any]):
    """Takes each sample from a random source, by weight; the sources' iterators have a state.

    A source that ends is left out. The pass ends when all sources have ended.
    """

    def __init__(self, sources: Sequence[IterableDataset[Any]], weights: Sequence[float]) -> None:
        if len(sources) != len(weights) or not all(weight > 0 for weight in weights):
            raise ValueError(f"each of the {len(sources)} sources needs a positive weight")
        self.sources = list(sources)
        self.weights = list(weights)

    def __iter__(self) -> Iterator[Any]:
        return _Pass([iter(source) for source in self.sources], self.weights)


class _Pass(Iterator[Any]):
    def __init__(self, sources: list[Any], weights: list[float]) -> None:
        self.sources, self.weights = sources, weights
        # The loader seeds torch's stream for each epoch and lane before it calls iter().
        self.random = np.random.default_rng(int(torch.randint(2**31, ())))
        self.left = list(range(len(sources)))

    def __next__(self) -> Any:
        while self.left:
            bounds = list(accumulate(self.weights[number] for number in self.left))
            chosen = bisect(bounds, self.random.random() * bounds[-1], hi=len(bounds) - 1)
            for sample in self.sources[self.left[chosen]]:
                return sample
            del self.left[chosen]
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        return {
            "sources": [source.state_dict() for source in self.sources],
            "left": list(self.left),
            "random": self.random.bit_generator.state,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        for source, of_source in zip(self.sources, state["sources"], strict=True):
            source.load_state_dict(of_source)
        self.left = list(state["left"])
        self.random.bit_generator.state = state["random"]
