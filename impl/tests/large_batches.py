"""Datasets of large batches, and what a batch may do while it is pickled or unpickled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from histories import keep
from torch.utils.data import Dataset

import midepoch

__all__ = [
    "MEGABYTE",
    "REMEMBERED",
    "AtPickling",
    "AtUnpickling",
    "Disturbed",
    "Large",
    "Refusal",
    "loader",
    "numbers",
    "refuse",
    "remember_and_refuse",
    "right",
    "values",
]

MEGABYTE = 1 << 20


def loader(dataset: Any, **arguments: Any) -> Any:
    chosen = {"batch_size": None, "collate_fn": keep, "num_workers": 1, "seed": 5, **arguments}
    return midepoch.StatefulDataLoader(dataset, **chosen)


def values(index: int, size: int) -> np.ndarray[Any, Any]:
    """Return an array of so many bytes, of which no two batches have the same."""
    return np.arange(index, index + size // 8)


class Large(Dataset[Any]):
    """Batches of a tensor and an array of ``size`` bytes each."""

    def __init__(self, n: int, size: int = MEGABYTE) -> None:
        self.n = n
        self.size = size

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> Any:
        some = values(index, self.size)
        return {"index": index, "x": torch.from_numpy(some), "a": some + 1}


def right(batch: Any, size: int = MEGABYTE) -> bool:
    wanted = values(batch["index"], size)
    return np.array_equal(batch["x"].numpy(), wanted) and np.array_equal(batch["a"], wanted + 1)


def numbers(batches: Any, size: int = MEGABYTE) -> list[int]:
    """Return which batches come, each of which is right."""
    got = []
    for batch in batches:
        assert right(batch, size)
        got.append(batch["index"])
    return got


class AtPickling:
    """Calls a function when it is pickled: amid the buffers of a batch."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action

    def __reduce__(self) -> Any:
        self.action()
        return str, ("written",)


class AtUnpickling:
    """Calls a function, with what it was given, when it is unpickled."""

    def __init__(self, action: Callable[..., Any], *given: Any) -> None:
        self.action = action
        self.given = given

    def __reduce__(self) -> Any:
        return self.action, self.given


class Disturbed(Large):
    """One index's batch holds something between its tensor and its array."""

    def __init__(self, n: int, at: Any, between: Any, size: int = MEGABYTE) -> None:
        super().__init__(n, size)
        self.at = at
        self.between = between

    def __getitem__(self, index: int) -> Any:
        batch = super().__getitem__(index)
        if index in self.at:
            return {"x": batch["x"], "between": self.between, "a": batch["a"], "index": index}
        return batch


class Refusal(LookupError):  # noqa: N818 -- what it is, is what its tests ask
    """The error of an object that does not want to be sent, or received."""


def refuse(*given: Any) -> Any:
    raise Refusal("not this one")


REMEMBERED: list[Any] = []


def remember_and_refuse(*given: Any) -> Any:
    REMEMBERED.extend(given)
    raise Refusal("not this one, but it was seen")
