"""Histories of a loader: played on one loader, or resumed into new loaders on the way."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

import midepoch
from midepoch import state_to_json
from midepoch.errors import ReplayWarning

Make = Callable[..., "midepoch.StatefulDataLoader[Any]"]
Operation = tuple[str, Any]
"""("take", how many) | ("break", None) | ("save", the next execution's arguments)."""


def keep(samples: Any) -> Any:
    """Leave a batch's rows as they are (a collate function)."""
    return samples


def scramble() -> None:
    """Leave the global random streams in states of no meaning."""
    random.seed()
    np.random.seed()
    torch.seed()


def play(make: Make, operations: Sequence[Operation], *, resume: bool, **first: Any) -> list[Any]:
    """Return the delivered batches; without ``resume``, "save" changes nothing."""
    loader = make(**first)
    batches: Iterator[Any] | None = None
    out: list[Any] = []
    moved = False
    for name, value in operations:
        if name == "take":
            for _ in range(value):
                batches = iter(loader) if batches is None else batches
                moved = True
                try:
                    out.append(next(batches))
                except StopIteration:
                    out.append("end")
                    batches = None
        elif name == "break" and moved:  # a loaded position is only left once it was consumed
            batches = None
            batches = iter(loader)
            out.append("break")
            moved = False
        elif name == "save":
            moved = False
            if resume:
                state = loader.state_dict()
                batches = None
                scramble()
                loader = make(**value)
                loader.load_state_dict(state)
                assert state_to_json(loader.state_dict()) == state_to_json(state)
    return out


def epochs(loader: Any, count: int = 1) -> list[list[Any]]:
    """Return whole epochs."""
    return [list(loader) for _ in range(count)]


def with_lifetime(loader: Any, lifetime: str) -> Any:
    """Return ``loader`` with the lifetime of a state loaded at the very start."""
    state = loader.state_dict()
    state["plan"]["lifetime"] = lifetime
    loader.load_state_dict(state)
    return loader


def ignoring_replays() -> None:
    """Silence the warning that these histories cause all the time."""
    warnings.filterwarnings("ignore", category=ReplayWarning)
