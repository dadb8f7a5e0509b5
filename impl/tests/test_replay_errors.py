"""Errors in a replay: those that the saved run raised are dropped, any other reaches the caller."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import IterableDataset

from midepoch import StatefulDataLoader
from midepoch.errors import ReplayMismatchError, ReplayWarning, WorkerDiedError

N = 20

pytestmark = pytest.mark.filterwarnings(f"ignore::{ReplayWarning.__module__}.ReplayWarning")


def fails_once(folder: Path, name: str) -> None:
    """Raise an error if the file ``name`` is in ``folder``, and remove it."""
    try:
        os.unlink(folder / name)
    except FileNotFoundError:
        return
    raise OSError(5, f"{name} cannot be read now")


class Reader:
    """An iterator that goes on after an error; its numbers are named after those it raises at."""

    def __init__(self, folder: Path, broken: tuple[int, ...]) -> None:
        self.folder, self.broken, self.number = folder, broken, 0

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> int:
        if self.number == N:
            raise StopIteration
        fails_once(self.folder, str(self.number))
        self.number += 1
        if self.number - 1 in self.broken:
            raise ValueError(f"{self.number - 1} is broken")
        return self.number - 1


class Plain(IterableDataset[int]):
    """A plain iterable: a resume replays it."""

    def __init__(self, folder: Path, broken: tuple[int, ...] = ()) -> None:
        self.folder, self.broken = folder, broken

    def __iter__(self) -> Iterator[int]:
        return Reader(self.folder, self.broken)


class Counting:
    """A map-style dataset whose values count the samples before: lanes replay it."""

    def __init__(self, folder: Path, broken: tuple[int, ...] = ()) -> None:
        self.folder, self.broken, self.count = folder, broken, 0

    def __len__(self) -> int:
        return N

    def __getitem__(self, index: int) -> tuple[int, int]:
        fails_once(self.folder, str(index))
        self.count += 1
        if index in self.broken:
            raise ValueError(f"{index} is broken")
        return index, self.count

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


def loader(dataset: Any, **arguments: Any) -> StatefulDataLoader[Any]:
    chosen = {"batch_size": 2, "seed": 3, "collate_fn": list, "snapshot_every_n_steps": 0}
    return StatefulDataLoader(dataset, **{**chosen, **arguments})


def batches(iterator: Iterator[Any], most: int | None = None) -> list[Any]:
    """Return batches, and the errors in their places by their first words."""
    found: list[Any] = []
    while most is None or len(found) < most:
        try:
            found.append(next(iterator))
        except StopIteration:
            break
        except ValueError as error:
            found.append(str(error).splitlines()[-1].removeprefix("ValueError: "))
    return found


EXECUTIONS: dict[str, dict[str, Any]] = {
    "inline": {},
    "processes": {"num_workers": 2},
    "threads": {"num_workers": 2, "worker_type": "thread"},
}
DATASETS: list[type[Plain] | type[Counting]] = [Plain, Counting]


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize("kind", DATASETS)
def test_an_error_of_the_replay_alone_reaches_the_caller_and_can_be_tried_again(
    kind: type[Any], execution: str, tmp_path: Path
) -> None:
    options = {"lanes": 1, **EXECUTIONS[execution]}
    saved = loader(kind(tmp_path), **options)
    iterator = iter(saved)
    batches(iterator, 4)
    state = saved.state_dict()
    rest = batches(iterator)
    made = loader(kind(tmp_path), **options)
    made.load_state_dict(state)
    (tmp_path / "3").touch()
    with pytest.raises(OSError, match="3 cannot be read now"):
        next(iter(made))
    assert made.state_dict() == state
    assert batches(iter(made)) == rest


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_same_iterator_goes_on_after_an_error_of_a_map_style_replay(
    execution: str, tmp_path: Path
) -> None:
    saved = loader(Counting(tmp_path), lanes=1)
    iterator = iter(saved)
    batches(iterator, 4)
    state, rest = saved.state_dict(), batches(iterator)
    made = loader(Counting(tmp_path), lanes=1, **EXECUTIONS[execution])
    made.load_state_dict(state)
    (tmp_path / "5").touch()
    again = iter(made)
    with pytest.raises(OSError, match="5 cannot be read now"):
        next(again)
    assert batches(again) == rest


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("lanes", [1, 2])
@pytest.mark.parametrize("kind", DATASETS)
def test_errors_that_were_shown_are_not_shown_again(
    kind: type[Any], lanes: int, workers: int, tmp_path: Path
) -> None:
    saved = loader(kind(tmp_path, (2, 7)), lanes=lanes)
    iterator = iter(saved)
    batches(iterator, 6)
    state = saved.state_dict()
    assert sum(len(entry["errors"]) for entry in state["lanes"]["entries"]) == 2
    rest = batches(iterator)
    made = loader(kind(tmp_path, (2, 7)), lanes=lanes, num_workers=workers)
    made.load_state_dict(state)
    iterator = iter(made)
    first = batches(iterator, 1)
    again = loader(kind(tmp_path, (2, 7)), lanes=lanes)
    again.load_state_dict(made.state_dict())
    assert first + batches(iter(again)) == rest


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", DATASETS)
def test_an_error_that_does_not_come_again_is_a_mismatch(
    kind: type[Any], workers: int, tmp_path: Path
) -> None:
    saved = loader(kind(tmp_path, (2,)), lanes=1)
    batches(iter(saved), 4)
    made = loader(kind(tmp_path), lanes=1, num_workers=workers)
    made.load_state_dict(saved.state_dict())
    with pytest.raises(ReplayMismatchError, match="raises none in the replay"):
        next(iter(made))


def test_an_error_of_collate_is_none_of_the_dataset(tmp_path: Path) -> None:
    def collate(samples: list[int]) -> list[int]:
        if 2 in samples:
            raise ValueError("cannot be put together")
        return samples

    saved = loader(Plain(tmp_path), collate_fn=collate)
    iterator = iter(saved)
    assert batches(iterator, 3) == [[0, 1], "cannot be put together", [4, 5]]
    state = saved.state_dict()
    assert state["lanes"]["entries"][0]["errors"] == []
    made = loader(Plain(tmp_path))
    made.load_state_dict(state)
    assert batches(iter(made)) == batches(iterator)


class StatefulReader(Reader):
    """The same with a state."""

    def state_dict(self) -> dict[str, int]:
        return {"number": self.number}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.number = state["number"]


class Seekable(Plain):
    """A dataset whose iterators have states."""

    def __iter__(self) -> Iterator[int]:
        return StatefulReader(self.folder, self.broken)


def test_an_error_of_a_stateful_stream_is_followed_by_a_snapshot(tmp_path: Path) -> None:
    saved = loader(Seekable(tmp_path), snapshot_every_n_steps=100)
    (tmp_path / "3").touch()
    iterator = iter(saved)
    next(iterator)
    with pytest.raises(OSError, match="3 cannot be read now"):
        next(iterator)
    state = saved.state_dict()
    [entry] = state["lanes"]["entries"]
    assert (entry["ordinal"], entry["replay"], entry["errors"]) == (2, 0, [])
    made = loader(Seekable(tmp_path))
    made.load_state_dict(state)
    assert batches(iter(made)) == batches(iterator)


class Left(Plain):
    """A dataset that lives on and counts over its passes; it keeps a loaded count."""

    def __init__(self, folder: Path, broken: tuple[int, ...] = ()) -> None:
        super().__init__(folder, broken)
        self.made = 0

    def __iter__(self) -> Iterator[int]:
        for number in Reader(self.folder, self.broken):
            self.made += 1
            yield 1000 * self.made + number

    def state_dict(self) -> dict[str, int]:
        return {"made": self.made}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.made = state["made"]


def test_an_error_in_a_pass_that_was_left_reaches_the_caller(tmp_path: Path) -> None:
    saved = loader(Left(tmp_path), lifetime="run")
    batches(iter(saved), 4)
    iterator = iter(saved)  # leaves the first pass
    state = saved.state_dict()
    rest = batches(iterator)
    made = loader(Left(tmp_path))
    made.load_state_dict(state)
    (tmp_path / "5").touch()
    with pytest.raises(OSError, match="5 cannot be read now"):
        next(iter(made))
    assert batches(iter(made)) == rest


class Dying(Plain):
    """A stream that ends its process once, at the number 10."""

    def __iter__(self) -> Iterator[int]:
        for number in Reader(self.folder, self.broken):
            if number == 10:
                try:
                    os.unlink(self.folder / "dies")
                except FileNotFoundError:
                    pass
                else:
                    (self.folder / "1").touch()
                    os.kill(os.getpid(), signal.SIGKILL)
            yield number


def test_a_replacement_does_not_drop_an_error_of_its_replay(tmp_path: Path) -> None:
    (tmp_path / "dies").touch()
    made = loader(Dying(tmp_path), num_workers=1, worker_restarts=2)
    iterator = iter(made)
    found = batches(islice(iterator, 5))
    assert found == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    with pytest.raises(WorkerDiedError) as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, Exception)
    again = loader(Dying(tmp_path), num_workers=1)
    again.load_state_dict(made.state_dict())
    assert batches(iter(again)) == [[n, n + 1] for n in range(10, N, 2)]


class Slow(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        for number in range(N):
            time.sleep(0.02)
            yield number


def test_an_exception_of_a_signal_handler_reaches_the_caller() -> None:
    saved = loader(Slow())
    iterator = iter(saved)
    batches(iterator, 8)
    state = saved.state_dict()
    rest = batches(iterator)
    made = loader(Slow())
    made.load_state_dict(state)

    def ring(*_: object) -> None:
        raise TimeoutError("preempted")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(TimeoutError, match="preempted"):
            next(iter(made))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert batches(iter(made)) == rest


def test_the_seed_of_a_worker_fits_a_tensor() -> None:
    for seed in range(20):
        made = StatefulDataLoader(Seeds(), batch_size=2, num_workers=1, seed=2**64 - 1 - seed)
        assert next(iter(made)).dtype == torch.int64


class Seeds:
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> int:
        return torch.initial_seed()
