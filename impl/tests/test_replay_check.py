"""``replay_check``: a replay that gives other samples than before is an error."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterableDataset, get_worker_info

from midepoch import StatefulDataLoader
from midepoch.errors import ArgumentError, ReplayMismatchError, ReplayWarning

pytestmark = pytest.mark.filterwarnings(f"ignore::{ReplayWarning.__module__}.ReplayWarning")

N = 30


class Plain(IterableDataset[int]):
    """A stream without a state; it begins at ``first``."""

    def __init__(self, first: int = 0) -> None:
        self.first = first

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        lane, lanes = (0, 1) if info is None else (info.id, info.num_workers)
        return iter(range(self.first + lane, self.first + N, lanes))


class Stateful(Plain):
    """The same with a state: only the samples since a snapshot are made again."""

    at: int | None = None

    def __iter__(self) -> Iterator[int]:
        ids = list(super().__iter__())
        self.at, begin = 0, self.at or 0
        for self.at in range(begin + 1, len(ids) + 1):
            yield ids[self.at - 1]

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.at = state["at"]


class Breaks(Plain):
    """Raises in place of some samples, and goes on."""

    def __iter__(self) -> Iterator[int]:
        return _Breaking(super().__iter__())


class _Breaking:
    def __init__(self, ids: Iterator[int]) -> None:
        self.ids = ids

    def __iter__(self) -> _Breaking:
        return self

    def __next__(self) -> int:
        found = next(self.ids)
        if found % 7 == 3:
            raise OSError(f"id {found}")
        return found


def same(samples: list[int]) -> list[int]:
    return samples


def refuses_some(samples: list[int]) -> int:
    if 4 in samples:
        raise KeyError("an id that it does not know")
    return sum(samples)


def loader(dataset: Any, **arguments: Any) -> StatefulDataLoader[Any]:
    chosen: dict[str, Any] = {"batch_size": 2, "seed": 1, "collate_fn": list, "replay_check": same}
    return StatefulDataLoader(dataset, **{**chosen, **arguments})


def batches(iterator: Iterator[Any], most: int = 1000) -> list[Any]:
    """Return batches, and the names of errors in their places."""
    found: list[Any] = []
    while len(found) < most:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except (OSError, KeyError) as error:
            found.append(type(error).__name__)
    return found


WAYS: list[dict[str, Any]] = [
    {},
    {"lanes": 3},
    {"num_workers": 2},
    {"num_workers": 2, "worker_type": "thread"},
    {"lanes": 3, "num_workers": 2, "persistent_workers": True},
]
KINDS = [(Plain, 1), (Stateful, 4), (Stateful, 0), (Breaks, 1)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "interval"), KINDS)
def test_the_same_samples_are_known_again(
    kind: type[Any], interval: int, way: dict[str, Any]
) -> None:
    arguments = {**way, "snapshot_every_n_steps": interval}
    lanes = way.get("lanes", way.get("num_workers", 0))
    inline = {"lanes": lanes, "snapshot_every_n_steps": interval}
    run = iter(loader(kind(), **arguments))
    rest = batches(run)
    for at in range(1, len(rest)):
        saved = loader(kind(), **arguments)
        batches(iter(saved), at)
        again = loader(kind(), **inline)
        again.load_state_dict(saved.state_dict())
        resumed = iter(again)
        assert batches(resumed, 1) == rest[at : at + 1]
        third = loader(kind(), **inline)
        third.load_state_dict(again.state_dict())
        assert batches(iter(third)) == rest[at + 1 :]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("kind", "interval"), [(Plain, 1), (Stateful, 0)])
def test_other_samples_are_refused_before_a_batch(
    kind: type[Any], interval: int, way: dict[str, Any]
) -> None:
    saved = loader(kind(), **way, snapshot_every_n_steps=interval)
    batches(iter(saved), 4)
    other = loader(kind(1), **way, snapshot_every_n_steps=interval)
    other.load_state_dict(saved.state_dict())
    with pytest.raises(ReplayMismatchError, match="gave other samples in the"):
        next(iter(other))


def test_a_snapshot_begins_anew() -> None:
    saved = loader(Stateful(), snapshot_every_n_steps=3)
    run = iter(saved)
    contents = []
    for _ in range(7):
        next(run)
        (entry,) = saved.state_dict()["lanes"]["entries"]
        contents.append((entry["replay"], entry["content"]))
    assert [replay for replay, _ in contents] == [1, 2, 0, 1, 2, 0, 1]
    assert [content is None for _, content in contents] == [False, False, True] * 2 + [False]
    assert len({content for _, content in contents}) == 6


def test_it_may_be_given_or_left_out_later() -> None:
    for before, after in ((None, same), (same, None)):
        saved = loader(Plain(), replay_check=before)
        rest = batches(iter(saved))
        saved = loader(Plain(), replay_check=before)
        batches(iter(saved), 3)
        again = loader(Plain(), replay_check=after)
        again.load_state_dict(saved.state_dict())
        resumed = iter(again)
        assert batches(resumed, 1) == rest[3:4]
        last = loader(Plain(), replay_check=same)
        last.load_state_dict(again.state_dict())
        assert batches(iter(last)) == rest[4:]


def test_an_error_of_the_check_is_one_of_its_batch() -> None:
    saved = loader(Plain(), replay_check=refuses_some)
    rest = batches(iter(saved))
    assert rest[2] == "KeyError"
    saved = loader(Plain(), replay_check=refuses_some)
    batches(iter(saved), 4)
    again = loader(Plain(), replay_check=refuses_some)
    again.load_state_dict(saved.state_dict())
    assert batches(iter(again)) == rest[4:]


def test_a_worker_that_is_replaced_is_checked() -> None:
    made = loader(Plain(), num_workers=1, worker_restarts=1)
    run: Any = iter(made)
    first = batches(run, 3)
    os.kill(run._workers[0].pid, signal.SIGKILL)
    assert first + batches(run) == batches(iter(loader(Plain(), lanes=1)))


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentError, match="replay_check should be None or a function, got 3"):
        loader(Plain(), replay_check=3)
    with pytest.raises(ArgumentError, match="map-style dataset are known by their indices"):
        loader(list(range(4)))
