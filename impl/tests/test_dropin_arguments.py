"""The same arguments into torch's loader and into this one: the same errors, batches, warnings.

What differs on purpose stands in tables of its own, with the reason.
"""

from __future__ import annotations

import copy
import gc
import inspect
import multiprocessing
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import sources
import torch
from histories import keep
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

from midepoch import StatefulDataLoader

pytestmark = pytest.mark.usefixtures("classic")

N = 11


def data() -> TensorDataset:
    return TensorDataset(torch.arange(N), torch.arange(N) * 1.5)


class Count(IterableDataset[int]):
    """A stream with a length."""

    def __init__(self, told: int = N) -> None:
        self.told = told

    def __iter__(self) -> Any:
        return iter(sources.shard(N))

    def __len__(self) -> int:
        return self.told


class NoLength(Dataset[int]):
    """Map-style, without a length."""

    def __getitem__(self, index: int) -> int:
        return index


def init(worker: int) -> None:
    pass


class Case(NamedTuple):
    """Arguments for both loaders; functions are called anew for each."""

    dataset: Callable[[], Any]
    arguments: dict[str, Any]

    def build(self, kind: Any) -> Any:
        made = {name: value() if name in FRESH else value for name, value in self.arguments.items()}
        return kind(self.dataset(), **made)


FRESH = {"sampler", "batch_sampler", "generator"}


def case(dataset: Any = data, **arguments: Any) -> Any:
    name = ", ".join(f"{key}={_name(value)}" for key, value in arguments.items())
    kind = "" if dataset is data else f"{dataset.__name__}: "
    return pytest.param(Case(dataset, arguments), id=f"{kind}{name}")


def _name(value: Any) -> str:
    return getattr(value, "__name__", None) or repr(value)


def numbers() -> list[int]:
    return [3, 1, 2]


def lists() -> list[list[int]]:
    return [[0, 1], [5], []][:2]


def subset() -> Any:
    return SubsetRandomSampler([1, 4, 7])


def sequential_batches() -> Any:
    return BatchSampler(SequentialSampler(data()), 4, True)


# Errors at construction


@pytest.mark.parametrize(
    "case",
    [
        case(num_workers=-1),
        case(timeout=-1),
        case(prefetch_factor=2),
        case(prefetch_factor=-1, num_workers=1),
        case(persistent_workers=True),
        case(batch_size=0),
        case(batch_size=-1),
        case(batch_size=1.5),
        case(batch_size=True),
        case(batch_size="2"),
        case(batch_size=None, drop_last=True),
        case(drop_last="yes"),
        case(sampler=numbers, shuffle=True),
        case(batch_sampler=lists, batch_size=2),
        case(batch_sampler=lists, shuffle=True),
        case(batch_sampler=lists, sampler=numbers),
        case(batch_sampler=lists, drop_last=True),
        case(multiprocessing_context="spawn"),
        case(multiprocessing_context="teleport", num_workers=1),
        case(multiprocessing_context=3, num_workers=1),
        case(Count, shuffle=True),
        case(Count, sampler=numbers),
        case(Count, batch_sampler=lists),
        case(list, shuffle=True),
        case(NoLength, shuffle=True),
        case(unknown=1),
    ],
)
def test_argument_errors_are_torchs(case: Case) -> None:
    told = []
    for kind in (DataLoader, StatefulDataLoader):
        with pytest.raises(Exception) as caught:  # noqa: PT011 -- compared below
            case.build(kind)
        told.append((type(caught.value), _anonymous(str(caught.value))))
    assert told[0] == told[1]


def _anonymous(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+|(Stateful)?DataLoader", "", text)


# What is taken


TAKEN = [
    case(),
    case(batch_size=4),
    case(batch_size=4, drop_last=True),
    case(batch_size=N + 1),
    case(batch_size=N + 1, drop_last=True),
    case(batch_size=None),
    case(batch_size=None, sampler=numbers),
    case(shuffle=False),
    case(shuffle=0),
    case(sampler=numbers, batch_size=2),
    case(sampler=lambda: iter([1, 2])),
    case(sampler=lambda: range(3)),
    case(batch_sampler=lists),
    case(batch_sampler=sequential_batches),
    case(collate_fn=keep, batch_size=3),
    case(collate_fn=torch.utils.data.default_convert, batch_size=3),
    case(num_workers=1, batch_size=4),
    case(num_workers=2, batch_size=4, prefetch_factor=1),
    case(num_workers=2, batch_size=4, persistent_workers=True, worker_init_fn=init),
    case(num_workers=2, batch_size=4, timeout=60),
    case(num_workers=1, batch_size=4, in_order=True, multiprocessing_context="fork"),
    case(Count, batch_size=4),
    case(Count, batch_size=4, drop_last=True),
    case(Count, batch_size=None),
    case(Count, batch_size=4, num_workers=2),
    case(Count, batch_size=4, num_workers=2, drop_last=True),
    case(list),
    case(lambda: list(range(5)), batch_size=2),
    case(lambda: np.arange(6.0), batch_size=4),
    case(lambda: torch.arange(12).reshape(6, 2), batch_size=4),
]


@pytest.mark.filterwarnings("ignore:Length of")
@pytest.mark.parametrize("case", TAKEN)
def test_batches_lengths_and_attributes_are_torchs(case: Case) -> None:
    theirs, ours = case.build(DataLoader), case.build(StatefulDataLoader)
    assert _length(ours) == _length(theirs)
    for name in (
        "batch_size",
        "num_workers",
        "prefetch_factor",
        "pin_memory",
        "pin_memory_device",
        "timeout",
        "drop_last",
        "collate_fn",
        "worker_init_fn",
        "persistent_workers",
        "in_order",
        "generator",
        "_auto_collation",
        "_dataset_kind",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("dataset", "batch_sampler", "multiprocessing_context"):
        assert type(getattr(ours, name)) is type(getattr(theirs, name)), name
    assert isinstance(ours.sampler, type(theirs.sampler))
    assert isinstance(ours, DataLoader)
    for _ in range(2):
        same(list(ours), list(theirs))


def _length(loader: Any) -> Any:
    try:
        return len(loader)
    except TypeError as error:
        return str(error)


def same(ours: Any, theirs: Any) -> None:
    """Compare two trees of batches in value and type."""
    assert type(ours) is type(theirs)
    if isinstance(ours, torch.Tensor):
        assert ours.dtype == theirs.dtype
        assert torch.equal(ours, theirs)
    elif isinstance(ours, dict):
        assert list(ours) == list(theirs)
        same(list(ours.values()), list(theirs.values()))
    elif isinstance(ours, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
    else:
        assert ours == theirs


@pytest.mark.parametrize(
    "case",
    [
        case(shuffle=True, batch_size=2),
        case(shuffle=True, generator=torch.Generator),
        case(sampler=subset),
        case(sampler=lambda: RandomSampler(data(), replacement=True, num_samples=5)),
        case(sampler=lambda: WeightedRandomSampler([1.0] * N, 7)),
        case(batch_sampler=lambda: BatchSampler(subset(), 2, False)),
    ],
)
def test_random_orders_are_of_the_same_kind(case: Case) -> None:
    theirs, ours = case.build(DataLoader), case.build(StatefulDataLoader)
    assert len(ours) == len(theirs)
    assert isinstance(ours.sampler, type(theirs.sampler))
    got = [[batch[0].tolist() for batch in loader] for loader in (ours, theirs)]
    assert [len(batch) for batch in got[0]] == [len(batch) for batch in got[1]]
    if "Weighted" not in type(ours.sampler).__name__ and not getattr(
        ours.sampler, "replacement", False
    ):
        flat = [sorted(value for batch in batches for value in batch) for batches in got]
        assert flat[0] == flat[1]


# Lengths and warnings


@pytest.mark.parametrize("told", [0, 3, N])
@pytest.mark.parametrize("batch_size", [None, 1, 4])
def test_warnings_about_a_streams_length_are_where_torchs_are(
    told: int, batch_size: int | None
) -> None:
    count = []
    for kind in (DataLoader, StatefulDataLoader):
        loader: Any = kind(Count(told), batch_size=batch_size)
        for asked in (False, True):
            if asked:
                len(loader)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                seen = len(list(loader))
            about = [w for w in caught if str(w.message).startswith("Length of IterableDataset ")]
            assert all(w.filename == __file__ for w in about)
            count.append((asked, seen, len(about)))
    assert count[:2] == count[2:]


def test_too_many_workers_are_warned_of_in_torchs_words() -> None:
    told = []
    for kind in (DataLoader, StatefulDataLoader):
        with pytest.warns(UserWarning, match="will create 99 worker processes") as caught:
            kind(data(), num_workers=99)
        told.append([str(warning.message) for warning in caught])
    assert told[0] == told[1]


# Contexts


@pytest.mark.parametrize("context", ["fork", multiprocessing.get_context("fork")])
def test_a_context_by_name_or_as_an_object(context: Any) -> None:
    made: Any = StatefulDataLoader(data(), num_workers=1, multiprocessing_context=context)
    assert made.multiprocessing_context.get_start_method() == "fork"
    assert len(list(made)) == N


def test_a_context_set_later_holds_from_the_next_iterator_on(helpers: None) -> None:
    made: Any = StatefulDataLoader(data(), num_workers=1, collate_fn=started)
    assert next(iter(made)) == "fork"
    made.multiprocessing_context = "spawn"
    assert next(iter(made)) == "spawn"
    with pytest.raises(ValueError, match="valid start method"):
        made.multiprocessing_context = "teleport"


def started(_: Any) -> str:
    """Return how this process was started (a collate function)."""
    return multiprocessing.get_start_method(allow_none=True) or "fork"


# Setting attributes later


@pytest.mark.parametrize(
    "name", ["batch_size", "sampler", "batch_sampler", "drop_last", "dataset", "persistent_workers"]
)
def test_what_torch_does_not_let_set_later(name: str) -> None:
    for kind in (DataLoader, StatefulDataLoader):
        loader: Any = kind(data())
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after"):
            setattr(loader, name, None)


def test_further_arguments_are_readable_and_not_set_later() -> None:
    made: Any = StatefulDataLoader(data(), empty_rest="deliver")
    theirs = inspect.signature(DataLoader).parameters
    further = [n for n in inspect.signature(StatefulDataLoader).parameters if n not in theirs]
    for name in further:
        value = getattr(made, name)
        if name == "snapshot_every_n_steps":
            continue
        with pytest.raises((ValueError, AttributeError)):
            setattr(made, name, value)


@pytest.mark.parametrize("dataset", [sources.Plain, sources.Counting, sources.Resuming])
@pytest.mark.parametrize("persistent", [False, True])
def test_the_number_of_workers_set_later_changes_no_batch(dataset: Any, persistent: bool) -> None:
    def make() -> Any:
        return StatefulDataLoader(
            dataset(N),
            batch_size=2,
            collate_fn=keep,
            num_workers=2,
            persistent_workers=persistent,
            seed=3,
        )

    whole = make()
    expected = [list(whole) for _ in range(4)]
    made = make()
    got = []
    for workers in (0, 1, 0, 2):
        made.num_workers = workers
        got.append(list(made))
        assert made.num_workers == workers
    assert got == expected


def test_what_may_be_set_later_holds_from_the_next_iterator_on() -> None:
    for kind in (DataLoader, StatefulDataLoader):
        loader: Any = kind(sources.Plain(4), batch_size=2, collate_fn=keep)
        list(loader)
        loader.collate_fn = len
        assert list(loader) == [2, 2]
        loader.timeout, loader.worker_init_fn = 60, init
        assert list(loader) if kind is StatefulDataLoader else True


# Worker information


@pytest.mark.parametrize("workers", [1, 2])
def test_worker_information_is_complete_and_read_only(workers: int) -> None:
    seen: dict[type, list[Any]] = {}
    for kind in (DataLoader, StatefulDataLoader):
        made: Any = kind(Asking(), batch_size=None, num_workers=workers, worker_init_fn=mark)
        seen[kind] = list(made)
    theirs, ours = seen.values()
    # The number of workers, who has which sample, whose copy and init function: as in torch.
    assert [row[:4] for row in ours] == [row[:4] for row in theirs]
    for row in ours:
        _, worker, _, _, seed, error = row
        assert error == seen[DataLoader][0][5]
        assert isinstance(seed, int)
        assert 0 <= seed < 2**64
        assert seed == next(other[4] for other in ours if other[1] == worker)
    assert len({row[4] for row in ours}) == workers


class Asking(sources.Plain):
    """Tells what its worker is told."""

    marked: int | None = None

    def __init__(self) -> None:
        super().__init__(4)

    def __getitem__(self, index: int) -> Any:
        info: Any = torch.utils.data.get_worker_info()
        assert info.dataset is self
        try:
            info.id = 3
            error = ""
        except Exception as raised:
            error = type(raised).__name__
        return index, info.id, info.num_workers, self.marked, info.seed, error


def mark(worker: int) -> None:
    info: Any = torch.utils.data.get_worker_info()
    assert info.id == worker
    info.dataset.marked = worker


# Copies


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
def test_a_copy_of_a_loader_stands_where_the_loader_stands(copied: Any, workers: int) -> None:
    def make(**arguments: Any) -> Any:
        return StatefulDataLoader(
            sources.Counting(N), batch_size=2, collate_fn=keep, num_workers=workers, **arguments
        )

    made = make(sampler=sources.EpochCountingSampler(N), seed=4)
    batches = iter(made)
    for _ in range(2):
        next(batches)
    other = copied(made)
    assert other.state_dict() == made.state_dict()
    assert list(other) == list(batches)
    assert list(other) == list(made)
    assert len(list(copied(make(shuffle=True)))) == 6


def test_iterators_are_not_pickled_as_torchs_are_not() -> None:
    for kind in (DataLoader, StatefulDataLoader):
        iterator: Any = iter(kind(data()))
        with pytest.raises(NotImplementedError, match="cannot be pickled"):
            pickle.dumps(iterator)


# Different, on purpose


def test_a_timeout_without_workers_is_taken() -> None:
    with pytest.raises(AssertionError):
        iter(DataLoader(data(), timeout=3))
    assert len(list(StatefulDataLoader(data(), timeout=3))) == N


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_prefetch_factor_of_zero_is_taken() -> None:
    with pytest.raises(AssertionError):
        iter(DataLoader(data(), num_workers=1, prefetch_factor=0))
    gc.collect()  # torch's half-made iterator complains when it is dropped
    assert len(list(StatefulDataLoader(data(), num_workers=1, prefetch_factor=0))) == N
