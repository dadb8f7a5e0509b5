"""Which loaders the integrations accept on several processes; they need no trainer for that."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError
from midepoch.integrations.processes import check_ranks, state_of_all


class Stream(torch.utils.data.IterableDataset[int]):
    def __iter__(self) -> Any:
        return iter(range(8))


def test_the_ranks_are_the_processes() -> None:
    shared: Any = StatefulDataLoader(range(8), ranks=(1, 2), seed=0)
    check_ranks(shared, 1, 2)
    for rank, world in ((0, 2), (1, 3)):
        with pytest.raises(ArgumentError, match='ranks="auto"'):
            check_ranks(shared, rank, world)
    alone: Any = StatefulDataLoader(Stream(), seed=0)
    check_ranks(alone, 0, 1)
    with pytest.raises(ArgumentError, match="2 processes train"):
        check_ranks(alone, 0, 2)


def test_ranks_by_number_cannot_be_gathered() -> None:
    dealt: Any = StatefulDataLoader(Stream(), ranks=(1, 2), seed=0)
    with pytest.raises(ArgumentError, match="cannot be asked"):
        check_ranks(dealt, 1, 2)


def test_one_process_gathers_nothing() -> None:
    data: Any = range(8)
    for options in ({}, {"ranks": (0, 1), "seed": 0}, {"ranks": (1, 2), "seed": 0}):
        loader = StatefulDataLoader(data, **options)
        before, batches = loader.state_dict(), iter(loader)
        assert state_of_all(loader) == loader.state_dict()
        next(batches)
        assert state_of_all(loader, before) == before != loader.state_dict()
