"""``batch_info()``: the same place and the same draws in every kind of worker (SEED-7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import IterableDataset

import midepoch
from midepoch import BatchInfo, batch_info
from midepoch.errors import OutsideBatchError
from midepoch.format.seeds import derive_words

N = 7
EXECUTIONS: dict[str, dict[str, Any]] = {
    "inline": {},
    "process": {"num_workers": 2},
    "thread": {"num_workers": 2, "worker_type": "thread"},
}
everywhere = pytest.mark.parametrize("execution", EXECUTIONS.values(), ids=EXECUTIONS)


def loader(dataset: Any, **arguments: Any) -> Any:
    chosen = {"batch_size": 2, "seed": 5, "lanes": 2, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(dataset, **chosen)


def draw() -> tuple[int, float]:
    info = batch_info()
    return int(info.numpy.integers(2**62)), torch.rand((), generator=info.torch).item()


class Drawing(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return (batch_info(), draw())


class DrawingStream(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        for _ in sources.shard(N):
            yield batch_info(), draw()


def drawing(samples: list[Any]) -> Any:
    """Collate the samples with one more draw."""
    return [*samples, (batch_info(), draw())]


def expected(place: tuple[int, int, int], seed: int, count: int) -> list[Any]:
    numpy = np.random.Generator(np.random.PCG64(seed))
    generator = torch.Generator().manual_seed(seed)
    info = BatchInfo(*place, seed)
    return [
        (info, (int(numpy.integers(2**62)), torch.rand((), generator=generator).item()))
        for _ in range(count)
    ]


@everywhere
def test_a_map_style_batch_draws_from_its_own_place(execution: dict[str, Any]) -> None:
    made = loader(Drawing(N), collate_fn=drawing, **execution)
    for epoch in range(2):
        batches = list(made)
        sizes = [2, 2, 2, 1]
        assert batches == [
            expected((epoch, i, i % 2), derive_words(5, "batch.map", epoch, i).private, size + 1)
            for i, size in enumerate(sizes)
        ]


@everywhere
def test_an_iterable_lanes_batch_draws_from_its_own_place(execution: dict[str, Any]) -> None:
    batches = list(loader(DrawingStream(), collate_fn=drawing, **execution))
    places = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]  # epoch, ordinal, lane
    assert batches == [
        expected((0, o, lane), derive_words(5, "batch.iterable", 0, lane, o).private, size + 1)
        for (_, o, lane), size in zip(places, [2, 2, 2, 1], strict=True)
    ]


@everywhere
@pytest.mark.parametrize("dataset", [Drawing(N), DrawingStream()], ids=["map", "iterable"])
@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")
def test_draws_go_on_after_a_resume(dataset: Any, execution: dict[str, Any]) -> None:
    whole = list(loader(dataset))
    made = loader(dataset, **execution)
    batches = iter(made)
    first = [next(batches), next(batches), next(batches)]
    other = loader(dataset)
    other.load_state_dict(made.state_dict())
    assert first + list(other) == whole == first + list(batches)


def test_where_there_is_no_batch_it_says_where_to_call_it() -> None:
    class Starting(sources.Resuming):
        def __iter__(self) -> Iterator[Any]:
            batch_info()
            return iter([])

    class Stated(sources.Counting):
        def state_dict(self) -> dict[str, Any]:
            with pytest.raises(OutsideBatchError):
                batch_info()
            return super().state_dict()

    def init(lane: int) -> None:
        batch_info()

    with pytest.raises(OutsideBatchError, match=r"__getitem__.*collate_fn.*\[SEED-7\]"):
        batch_info()
    for made in (loader(Starting(N)), loader(Drawing(N), worker_init_fn=init)):
        with pytest.raises(OutsideBatchError):
            iter(made)
    made = loader(Stated(N))
    assert len(list(made)) == 4
    assert made.state_dict()
    with pytest.raises(OutsideBatchError):
        batch_info()


def test_a_loader_within_a_batch_has_batches_of_its_own() -> None:
    class Outer(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            before = batch_info()
            inner = [batch[0][0] for batch in loader(Drawing(2), batch_size=1, lanes=0, seed=6)]
            assert batch_info() is before
            return before.seed, [info.seed for info in inner]

    (rows,) = loader(Outer(1))
    seeds = [derive_words(6, "batch.map", 0, i).private for i in range(2)]
    assert rows == [(derive_words(5, "batch.map", 0, 0).private, seeds)]


def test_a_loaded_end_that_sticks_leaves_no_draws_behind() -> None:
    class Sticking(sources.Resuming):
        """Draws before it finds out that its loaded state is an end."""

        def _rows(self) -> Iterator[Any]:
            batch_info().numpy.random()
            for row in super()._rows():
                yield [row[0], *draw()]

    made = loader(Sticking(4), lanes=0, snapshot_every_n_steps=1)
    first = list(made)
    second = list(made)
    other = loader(Sticking(4), lanes=0)
    made = loader(Sticking(4), lanes=0)
    assert list(made) == first
    other.load_state_dict(made.state_dict())
    assert list(other) == second
