"""Carries one generator of each library for a sampler.

A sampler with two of them, one for its shards and one for the samples within, goes on with the
second one fresh.
"""

from collections.abc import Iterator
from typing import Any

import torch
from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-2", "EPOCH-3", "EPOCH-4", "RESUME-7")
EDITS = [
    (
        "sampling/chain.py",
        "        for path, link in self.links:\n"
        '            for name, value in getattr(link, "__dict__", {}).items():\n'
        "                if generators.kind_of(value):\n",
        "        seen = set()\n"
        "        for path, link in self.links:\n"
        '            for name, value in getattr(link, "__dict__", {}).items():\n'
        "                kind = generators.kind_of(value)\n"
        "                if kind and kind not in seen:\n"
        "                    seen.add(kind)\n",
    ),
]


class Shards:
    """A sampler that draws the order of shards and that of each one's samples."""

    def __init__(self) -> None:
        self.outer = torch.Generator().manual_seed(1)
        self.inner = torch.Generator().manual_seed(2)

    def __len__(self) -> int:
        return 24

    def __iter__(self) -> Iterator[int]:
        for shard in torch.randperm(4, generator=self.outer).tolist():
            for sample in torch.randperm(6, generator=self.inner).tolist():
                yield 6 * shard + sample


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(24), 4, sampler=Shards(), seed=1, collate_fn=list)

    saving, resumed = loader(), loader()
    list(saving)
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(saving)


Adapter = edited(EDITS)
