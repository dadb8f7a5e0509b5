"""Keeps the state of a user's batch sampler, and not that of the sampler inside it.

A batch sampler that only cuts what its sampler gives has no position of its own. A run with
workers that is restarted in the middle of an epoch shows the first samples again.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "INTERVAL-1")
EDITS = [
    (
        "sampling/chain.py",
        '            if getattr(batch_sampler, "sampler", None) is not None:\n'
        '                self.objects["sampler"] = batch_sampler.sampler\n',
        "",
    ),
]


class Walk:
    """A Stateful sampler that gives its indices in order."""

    def __init__(self) -> None:
        self.at, self.loaded = 0, False

    def __iter__(self) -> Iterator[int]:
        self.at, self.loaded = self.at if self.loaded else 0, False
        while self.at < 12:
            self.at += 1
            yield self.at - 1

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.loaded = state["at"], True


class Pairs:
    """A Stateful batch sampler: it counts the batches, for its log."""

    def __init__(self) -> None:
        self.sampler, self.batches = Walk(), 0

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        for first in indices:
            self.batches += 1
            yield [first, next(indices)]

    def state_dict(self) -> dict[str, int]:
        return {"batches": self.batches}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.batches = state["batches"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(12), batch_sampler=Pairs(), num_workers=1, seed=1, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    next(batches), next(batches)
    resumed = loader()
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), list(batches)


Adapter = edited(EDITS)
