"""Lanes: what user code sees inside one, its copies, its seeds, and the order of a restore."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import epochs, keep
from torch.utils.data import IterableDataset, get_worker_info

import midepoch
from midepoch.errors import LaneCopyError
from midepoch.format.seeds import derive, derive_words
from midepoch.lane import host
from midepoch.lane.lane import Lane

N = 11
everywhere = pytest.mark.parametrize("workers", [0, 1, 2])


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


class Info(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        info: Any = get_worker_info()
        return None if info is None else (info.id, info.num_workers, info.seed, info.dataset.n)


@everywhere
def test_worker_info_reports_the_lane(workers: int) -> None:
    for keeps, numbers in ((True, (0,)), (False, (0, 0))):
        arguments: dict[str, Any] = {"num_workers": workers, "lanes": 2}
        if workers:
            arguments["persistent_workers"] = keeps
        elif not keeps:
            continue
        rows = [batch[0] for batch in loader(Info(4), **arguments)]
        assert [row[0] for row in rows] == [0, 1, 0, 1]
        assert {row[1] for row in rows} == {2}
        assert rows[0][2] == derive(5, "worker", *numbers) >> 1
    assert get_worker_info() is None


@everywhere
def test_without_lanes_there_is_no_worker_info(workers: int) -> None:
    assert list(loader(Info(3), num_workers=workers, lanes=0)) == [[None]] * 3


class Marked(sources.Plain):
    mark = -1
    seen: Any = None

    def __getitem__(self, index: int) -> Any:
        return (self.mark, self.seen)


def mark(lane: int) -> None:
    info = get_worker_info()
    assert info is not None
    info.dataset.mark = lane  # type: ignore[attr-defined]
    info.dataset.seen = (torch.randint(99, ()).item(), random.randrange(99), np.random.randint(99))  # type: ignore[attr-defined]


@everywhere
def test_worker_init_fn_runs_once_a_lane_under_its_seeds(workers: int) -> None:
    made = loader(Marked(4), num_workers=workers, lanes=3, worker_init_fn=mark)
    rows = [batch[0] for batch in made]
    assert [row[0] for row in rows] == [0, 1, 2, 0]
    assert len({row[1] for row in rows}) == 3
    if workers == 0:
        again = [batch[0] for batch in made]
        assert again == rows
        seeds = derive_words(5, "worker", 1)
        torch.manual_seed(seeds.torch)
        assert rows[1][1][0] == torch.randint(99, ()).item()


def test_worker_init_fn_is_not_called_without_lanes() -> None:
    assert [batch[0][0] for batch in loader(Marked(2), worker_init_fn=mark)] == [-1, -1]


class Locked(sources.Resuming):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.guard = threading.Lock()


def test_a_dataset_that_cannot_be_copied_is_named_with_advice() -> None:
    made = loader(Locked(N), lanes=2)
    with pytest.raises(LaneCopyError, match=r"Locked\.guard.*num_workers >= lanes"):
        iter(made)
    assert len(list(loader(Locked(N), lanes=1))) == N  # one lane uses the object itself
    assert len(list(loader(Locked(N), lanes=2, num_workers=2))) == N


def test_a_dataset_that_only_deepcopy_copies_will_do() -> None:
    class Local(sources.Stream):  # not importable, hence not picklable
        pass

    assert len(list(loader(Local(N), lanes=2))) == N


def test_plain_map_style_lanes_share_one_object_inline() -> None:
    class Uncopyable(sources.Plain):
        guard = None

        def __reduce__(self) -> Any:
            raise TypeError("no copies")

    assert len(list(loader(Uncopyable(N), lanes=3))) == N


def test_inline_a_single_lane_runs_the_users_own_object() -> None:
    dataset = sources.Counting(N)
    list(loader(dataset))
    assert dataset.served == N


def test_lifetimes() -> None:
    def served(**arguments: Any) -> list[float]:
        made = loader(sources.Counting(3), batch_size=3, **arguments)
        return [batch[-1][-1] for _ in range(2) for batch in made]

    assert served() == [3, 6]
    assert served(num_workers=1, persistent_workers=True) == [3, 6]
    assert served(num_workers=1) == [3, 3]


def test_an_epochs_fresh_copy_is_of_the_dataset_as_it_is_at_iter() -> None:
    dataset = sources.Counting(3)
    made = loader(dataset, batch_size=3, num_workers=1)
    list(made)
    dataset.served = 10
    assert next(iter(made))[-1][-1] == 13


class Diary(IterableDataset[Any]):
    """Notes what is done to it."""

    def __init__(self, own: bool) -> None:
        self.notes: list[str] = []
        self.own = own
        self.at = 0

    def __iter__(self) -> Iterator[Any]:
        self.notes.append("iter")
        if self.own:
            return self
        return Pages(self)

    def __next__(self) -> Any:
        self.at += 1
        return list(self.notes)

    def state_dict(self) -> dict[str, Any]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.notes.append("load dataset")
        self.at = state["at"]


class Pages(Iterator[Any]):
    def __init__(self, diary: Diary) -> None:
        self.diary = diary

    def __next__(self) -> Any:
        return next(self.diary)

    def state_dict(self) -> dict[str, Any]:
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.diary.notes.append("load iterator")


@pytest.mark.parametrize(
    ("own", "notes"),
    [(False, ["load dataset", "iter", "load iterator"]), (True, ["iter", "load dataset"])],
)
def test_the_order_of_a_restore(own: bool, notes: list[str]) -> None:
    made = loader(Diary(own))
    batches = iter(made)
    next(batches)
    other = loader(Diary(own))
    other.load_state_dict(made.state_dict())
    assert next(iter(other)) == [notes]


# Seeds and isolation


@everywhere
def test_batch_seeds_are_those_of_the_specification(workers: int) -> None:
    made = loader(sources.Plain(3), num_workers=workers, lanes=2)
    second = epochs(made, 2)[1][2][0]
    seeds = derive_words(5, "batch.map", 1, 2)
    torch.manual_seed(seeds.torch)
    random.seed(seeds.python)
    np.random.seed(seeds.numpy)
    assert second == sources.row(2)

    made = loader(sources.Stream(6), num_workers=workers, lanes=2)
    got = list(made)[3][0]  # lane 1, its batch 1
    seeds = derive_words(5, "batch.iterable", 0, 1, 1)
    torch.manual_seed(seeds.torch)
    random.seed(seeds.python)
    np.random.seed(seeds.numpy)
    assert got == sources.row(3)


@everywhere
@pytest.mark.parametrize("dataset", [sources.Plain, sources.Buffered])
def test_the_callers_streams_are_not_moved(dataset: Any, workers: int) -> None:
    def draws() -> tuple[float, float, float, float]:
        normal = np.random.standard_normal()  # one of a pair: the other is cached
        return torch.rand(()).item(), random.random(), float(np.random.rand()), normal

    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    expected = [draws() for _ in range(4)]
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    made = loader(dataset(3), num_workers=workers)
    got = [draws()]
    for _ in made:
        got.append(draws())
    assert got == expected


@everywhere
def test_user_code_runs_with_one_thread(workers: int) -> None:
    class Threads(sources.Plain):
        def __getitem__(self, index: int) -> int:
            return torch.get_num_threads()

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert list(loader(Threads(2), num_workers=workers, lanes=1)) == [[1], [1]]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_getitems_is_used() -> None:
    class Several(sources.Plain):
        def __getitems__(self, indices: list[int]) -> list[int]:
            return [index * 10 for index in indices]

    assert list(loader(Several(4), batch_size=2)) == [[0, 10], [20, 30]]


def test_without_automatic_batching_a_sampler_gives_keys() -> None:
    made = loader({"a": 1, "b": 2}, batch_size=None, sampler=["b", "a"])
    assert list(made) == [2, 1]


# Lanes are made when they are first used


KINDS: list[dict[str, Any]] = [
    {},
    {"num_workers": 1},
    {"num_workers": 1, "persistent_workers": True},
    {"num_workers": 2, "worker_type": "thread"},
]


class Copied(sources.Plain):
    """A state of its own for each object; counts what is copied, and shows who was used."""

    copies = 0

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.served = 0

    def __getitem__(self, index: int) -> Any:
        self.served += 1
        return index, self.served, Copied.copies

    def state_dict(self) -> dict[str, Any]:
        return {"served": self.served}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.served = state["served"]

    def __setstate__(self, state: dict[str, Any]) -> None:
        Copied.copies += 1
        vars(self).update(state)


@pytest.mark.parametrize("arguments", KINDS)
def test_a_lane_gets_its_copy_when_it_is_first_used(arguments: dict[str, Any]) -> None:
    Copied.copies = 0
    made = loader(Copied(100), lanes=50, **{"prefetch_factor": 1, **arguments} if arguments else {})
    batches = iter(made)
    early = [next(batches)[0] for _ in range(3)]
    # A copy is of the object as it was at iter(): no other lane's use shows in it.
    assert [(index, served) for index, served, _ in early] == [(0, 1), (1, 1), (2, 1)]
    made_so_far = early[-1][2]
    assert made_so_far <= 6
    rest = [batch[0] for batch in batches]
    assert [served for _, served, _ in rest] == [1] * 47 + [2] * 50
    if not arguments:
        assert rest[-1][2] == 50


def test_the_first_lanes_use_does_not_show_in_a_later_ones_copy() -> None:
    class Growing(Copied):
        def __init__(self, n: int) -> None:
            super().__init__(n)
            self.seen: list[int] = []

        def __getitem__(self, index: int) -> Any:
            self.seen.append(index)
            return list(self.seen)

    expected = [[[0]], [[1]], [[2]], [[0, 3]], [[1, 4]], [[2, 5]]]
    for arguments in KINDS:
        assert list(loader(Growing(6), lanes=3, **arguments)) == expected
    dataset = Growing(6)
    batches = iter(loader(dataset, lanes=3))
    told = [next(batches)]
    dataset.seen.append(99)  # after iter()
    assert told + list(batches) == expected


class Twice(Copied):
    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if Copied.copies == 2:
            raise LookupError("no second copy")


def test_a_copy_that_cannot_be_made_later_is_the_error_of_its_batch() -> None:
    Copied.copies = 0
    batches = iter(loader(Twice(4), lanes=4))
    assert next(batches)[0][0] == 0
    with pytest.raises(LookupError, match="no second copy"):
        next(batches)
    assert [batch[0][0] for batch in batches] == [2, 3]


@pytest.mark.parametrize("arguments", KINDS)
def test_thousands_of_lanes_that_a_state_names_are_not_made(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Counted(Lane):
        def __init__(self, spec: Any, number: int, dataset: Any, epoch: int) -> None:
            made.append(number)
            super().__init__(spec, number, dataset, epoch)

        def fetch(self, task: Any) -> Any:
            reply = super().fetch(task)
            reply.outcome.data = len(made)
            return reply

    monkeypatch.setattr(host, "Lane", Counted)
    resumed = loader(sources.Plain(5), **arguments)
    state = resumed.state_dict()
    state["plan"]["lanes"] = 60_000
    resumed.load_state_dict(state)
    assert max(resumed) <= 5
