"""An interrupt while a batch is made: nothing is lost or repeated (FAULT-9, FAULT-12)."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import IterableDataset

from midepoch import StatefulDataLoader
from midepoch.errors import SnapshotError, StaleIteratorError

N = 12
PAUSE = 0.1
"""Seconds until a worker interrupts the process that waits for its batch."""

pytestmark = pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")


class Rows:
    """Random access; sample 5 sends Ctrl-C to the main process, once."""

    def __init__(self, mark: Path | None = None) -> None:
        self.mark = mark

    def __len__(self) -> int:
        return N

    def __getitem__(self, i: int) -> int:
        self.interrupt(i)
        return i

    def interrupt(self, i: int) -> None:
        if self.mark is None or i != 5 or self.mark.exists():
            return
        self.mark.touch()
        parent = parent_process()
        if parent is not None:
            time.sleep(PAUSE)
        os.kill(os.getpid() if parent is None else int(parent.pid or 0), signal.SIGINT)


class CountedRows(Rows):
    """The same with a state: each sample tells how many this object had made."""

    count = 0

    def __getitem__(self, i: int) -> int:
        self.count += 1
        return 100 * super().__getitem__(i) + self.count

    def state_dict(self) -> dict[str, int]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.count = state["count"]


class Stream(Rows, IterableDataset[int]):
    """An iterable whose generator an exception ends."""

    def __iter__(self) -> Iterator[int]:
        info = torch.utils.data.get_worker_info()
        first, step = (0, 1) if info is None else (info.id, info.num_workers)
        for i in range(first, N, step):
            self.interrupt(i)
            yield i


DATASETS = pytest.mark.parametrize("dataset", [Rows, CountedRows, Stream])


def loader(dataset: Any, **more: Any) -> StatefulDataLoader[Any]:
    return StatefulDataLoader(dataset, batch_size=2, seed=3, collate_fn=list, **more)


def deliver(batches: Iterator[Any]) -> list[Any]:
    """Return the batches up to an interrupt or the end."""
    found: list[Any] = []
    with suppress(StopIteration, KeyboardInterrupt):
        found.extend(iter(lambda: next(batches), None))
    return found


@DATASETS
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["process", "thread"])
def test_the_same_iterator_goes_on(
    dataset: type[Rows], workers: int, kind: str, tmp_path: Path
) -> None:
    settings = {"num_workers": workers, "lanes": workers, "worker_type": kind}
    wanted = [list(epoch) for epoch in [loader(dataset(), **settings)] * 2]
    interrupted = loader(dataset(tmp_path / "mark"), **settings)
    batches = iter(interrupted)
    first = deliver(batches)
    assert (tmp_path / "mark").exists()
    assert len(first) < len(wanted[0])
    state = interrupted.state_dict()
    assert first + deliver(batches) == wanted[0]
    assert list(interrupted) == wanted[1]
    resumed = loader(dataset(), **settings)
    resumed.load_state_dict(state)
    assert list(resumed) == wanted[0][len(first) :]


class UntoldRows(CountedRows):
    """The same, and its state cannot be taken at the end of the first epoch."""

    def state_dict(self) -> dict[str, int]:
        if self.count == N:
            raise OSError("not here")
        return super().state_dict()


@pytest.mark.filterwarnings("ignore::midepoch.errors.SnapshotWarning")
@pytest.mark.parametrize("workers", [0, 1])
def test_an_epoch_is_not_begun_again_from_a_state_that_nobody_knows(
    workers: int, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    mark.touch()
    settings = {"num_workers": workers, "persistent_workers": bool(workers), "lanes": 1}
    interrupted = loader(UntoldRows(mark), snapshot_every_n_steps=100, **settings)
    list(interrupted)
    mark.unlink()
    batches = iter(interrupted)
    assert len(deliver(batches)) < N // 2
    for _ in range(2):
        with pytest.raises(SnapshotError, match="not here"):
            next(batches)


def test_a_custom_samplers_order_goes_on(tmp_path: Path) -> None:
    def order() -> Any:
        generator = torch.Generator().manual_seed(1)
        return torch.utils.data.RandomSampler(range(N), generator=generator)

    wanted = loader(Rows(), sampler=order())
    interrupted = loader(Rows(tmp_path / "mark"), sampler=order())
    batches = iter(interrupted)
    assert deliver(batches) + deliver(batches) == list(wanted)
    assert list(interrupted) == list(wanted)


class Halted:
    """A sampler with a generator that is interrupted before the index of a place, once."""

    def __init__(self, place: int | None) -> None:
        self.generator, self.place = random.Random(1), place

    def __iter__(self) -> Iterator[int]:
        order = list(range(N))
        self.generator.shuffle(order)
        for place, index in enumerate(order):
            if place == self.place:
                self.place = None
                raise KeyboardInterrupt
            yield index


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind", ["process", "thread"])
@pytest.mark.parametrize("place", [0, 3, 10])
def test_a_sampler_is_interrupted(place: int, workers: int, kind: str) -> None:
    """With workers, ``iter`` draws the first indices, and the last ones are for a later batch."""
    settings = {"num_workers": workers, "worker_type": kind}
    calm = loader(Rows(), sampler=Halted(None), **settings)
    wanted = [list(calm), list(calm)]
    interrupted = loader(Rows(), sampler=Halted(place), **settings)
    batches, first = None, list[Any]()
    with suppress(KeyboardInterrupt):
        batches = iter(interrupted)
        first = deliver(batches)
    assert len(first) < len(wanted[0])
    state = interrupted.state_dict()
    assert first + deliver(iter(interrupted) if batches is None else batches) == wanted[0]
    assert list(interrupted) == wanted[1]
    resumed = loader(Rows(), sampler=Halted(None), **settings)
    resumed.load_state_dict(state)
    assert list(resumed) == wanted[0][len(first) :]


@DATASETS
def test_a_new_iterator_begins_the_next_epoch(dataset: type[Rows], tmp_path: Path) -> None:
    reference = loader(dataset())
    left = iter(reference)
    interrupted = loader(dataset(tmp_path / "mark"))
    batches = iter(interrupted)
    for _ in deliver(batches):
        next(left)
    assert list(interrupted) == list(reference)
    with pytest.raises(StaleIteratorError, match="newer"):
        next(batches)
