"""torch's distributed checkpoint around a loader whose state grows: refused, or exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.api import CheckpointException

from midepoch import StatefulDataLoader

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs


class Rows(torch.utils.data.Dataset[list[int]]):
    """Each sample tells how many were looked up before, which the state holds."""

    def __init__(self) -> None:
        self.count = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> list[int]:
        self.count += 1
        return [index, self.count]

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.count = state["count"]


class Stream(torch.utils.data.IterableDataset[list[int]]):
    """The same in order, without a random access."""

    def __init__(self) -> None:
        self.rows = Rows()

    def __iter__(self) -> Any:
        while self.rows.count < len(self.rows):
            yield self.rows[self.rows.count]
        self.rows.count = 0

    def state_dict(self) -> dict[str, Any]:
        return self.rows.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.rows.load_state_dict(state)


def make(kind: type[Any]) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(kind(), batch_size=2, seed=1, collate_fn=list)


def begun(kind: type[Any]) -> tuple[StatefulDataLoader[Any], list[Any]]:
    """Return a loader two batches into its epoch, and the rest of it from another one."""
    loader, other = make(kind), make(kind)
    batches, rest = iter(loader), iter(other)
    for _ in range(2):
        assert next(batches) == next(rest)
    del batches
    return loader, list(rest)


WAYS: list[Callable[[StatefulDataLoader[Any]], Any]] = [
    lambda loader: loader,
    lambda loader: loader.state_dict(),
]


@pytest.mark.parametrize("kind", [Rows, Stream])
@pytest.mark.parametrize("way", WAYS, ids=["the loader", "its state"])
def test_a_state_that_grew_is_not_loaded_in_silence(
    tmp_path: Path, kind: type[Any], way: Callable[[StatefulDataLoader[Any]], Any]
) -> None:
    loader, _ = begun(kind)
    dcp.save({"loader": way(loader)}, checkpoint_id=tmp_path)
    fresh = make(kind)
    before = fresh.state_dict()
    # A fresh state has nothing of the dataset, and DCP names the key that it finds nothing for.
    with pytest.raises(CheckpointException, match=r"Missing key .*loader\.lanes\.entries\.0"):
        dcp.load({"loader": way(fresh)}, checkpoint_id=tmp_path)
    assert fresh.state_dict() == before


@pytest.mark.parametrize("kind", [Rows, Stream])
def test_a_checkpointable_loader_goes_on(tmp_path: Path, kind: type[Any]) -> None:
    loader, rest = begun(kind)
    dcp.save({"loader": loader.checkpointable()}, checkpoint_id=tmp_path)
    fresh = make(kind)
    dcp.load({"loader": fresh.checkpointable()}, checkpoint_id=tmp_path)
    assert list(fresh) == rest
