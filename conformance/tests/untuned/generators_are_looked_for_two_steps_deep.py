"""Looks for generators in the sampler and in the one inside it, and not further in.

A sampler around a sampler around a shuffling one repeats its first order after a restart.
"""

from collections.abc import Iterator
from typing import Any

import torch
from edited import edited
from torch.utils.data import RandomSampler, Sampler

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-2", "EPOCH-4", "RESUME-6", "RESUME-7")
EDITS = [
    (
        "sampling/chain.py",
        "        for path, link in self.links:\n            for name, value in",
        "        for path, link in self.links[:2]:\n            for name, value in",
    ),
]


class Around(Sampler[int]):
    """Passes the indices of another sampler on."""

    def __init__(self, sampler: Sampler[int]) -> None:
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        return iter(self.sampler)


def shows(play: Any) -> Any:
    import midepoch

    def make() -> Any:
        inner = RandomSampler(range(9), generator=torch.Generator().manual_seed(3))
        return midepoch.StatefulDataLoader(list(range(9)), 4, sampler=Around(inner), seed=0)

    loader = make()
    list(loader)
    again = make()
    again.load_state_dict(loader.state_dict())
    return [batch.tolist() for batch in again], [batch.tolist() for batch in loader]


Adapter = edited(EDITS)
