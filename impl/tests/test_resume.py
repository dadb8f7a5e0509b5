"""Resumed runs equal uninterrupted ones: any history, execution, dataset, sampler and lifetime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import histories
import pytest
import sources
import torch
from histories import Operation, epochs, keep, play
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch.utils.data import BatchSampler, RandomSampler, WeightedRandomSampler

import midepoch
from midepoch.errors import ReplayWarning

pytestmark = [
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]

N = 11
INTERVALS = st.sampled_from([1, 2, 3, 100, None])
INLINE = st.fixed_dictionaries({"snapshot_every_n_steps": INTERVALS})
PROCESSES = st.fixed_dictionaries(
    {"snapshot_every_n_steps": INTERVALS, "num_workers": st.sampled_from([0, 1, 2, 3])}
)


def operations(executions: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[Operation]]:
    take = st.tuples(st.just("take"), st.integers(0, 7))
    leave = st.just(("break", None))
    save = st.tuples(st.just("save"), executions)
    some = st.lists(st.one_of(take, take, leave, save), max_size=7)
    return some.map(lambda ops: [*ops, ("take", 9)])


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def agree(
    make: Callable[..., Any], lifetime: str, ops: list[Operation], first: dict[str, Any]
) -> None:
    def in_lifetime(**execution: Any) -> Any:
        return histories.with_lifetime(make(**execution), lifetime)

    resumed = play(in_lifetime, ops, resume=True, **first)
    assert resumed == play(in_lifetime, ops, resume=False)


plans = given(
    ops=operations(INLINE),
    lanes=st.sampled_from([0, 1, 2, 3]),
    batch_size=st.sampled_from([None, 1, 2, 3]),
    interval=INTERVALS,
    drop_last=st.booleans(),
)


@pytest.mark.parametrize("lifetime", ["run", "epoch"])
@pytest.mark.parametrize("dataset", [*sources.MAPS, *sources.STREAMS])
@examples(10)
@plans
def test_histories_inline(
    dataset: Any,
    lifetime: str,
    ops: list[Operation],
    lanes: int,
    batch_size: int | None,
    interval: int | None,
    drop_last: bool,
) -> None:
    plan = {
        "lanes": lanes,
        "batch_size": batch_size,
        "drop_last": drop_last and batch_size is not None,
        "snapshot_every_n_steps": interval,
    }

    def make(**execution: Any) -> Any:
        arguments = {**plan, **execution}
        return midepoch.StatefulDataLoader(dataset(N), seed=5, collate_fn=keep, **arguments)

    agree(make, lifetime, ops, {})


@pytest.mark.parametrize("lifetime", ["run", "epoch"])
@pytest.mark.parametrize("dataset", [sources.Counting, sources.Stream, sources.Passing])
@examples(4)
@given(ops=operations(PROCESSES), lanes=st.sampled_from([0, 2, 3]), first=PROCESSES)
def test_histories_with_processes(
    dataset: Any, lifetime: str, ops: list[Operation], lanes: int, first: dict[str, Any]
) -> None:
    def make(**execution: Any) -> Any:
        return midepoch.StatefulDataLoader(
            dataset(N), batch_size=2, seed=5, lanes=lanes, collate_fn=keep, **execution
        )

    agree(make, lifetime, ops, first)


def generator() -> torch.Generator:
    made = torch.Generator()
    made.manual_seed(9)
    return made


SAMPLERS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "plain": lambda data: {"sampler": sources.Lively(N), "batch_size": 2},
    "unbatched": lambda data: {"sampler": sources.Lively(N), "batch_size": None},
    "skipping": lambda data: {"sampler": sources.SkippingSampler(N), "batch_size": 2},
    "counting": lambda data: {"sampler": sources.EpochCountingSampler(N), "batch_size": 3},
    "buckets": lambda data: {"batch_sampler": sources.Buckets(N)},
    "inner": lambda data: {"batch_sampler": BatchSampler(sources.SkippingSampler(N), 3, True)},
    "random": lambda data: {"sampler": RandomSampler(data), "batch_size": 2},
    "replacing": lambda data: {
        "sampler": RandomSampler(data, replacement=True, num_samples=70, generator=generator()),
        "batch_size": 12,
    },
    "weighted": lambda data: {"sampler": WeightedRandomSampler([1.0] * N, N), "batch_size": 5},
    "list": lambda data: {"sampler": [3, 1, 4, 1, 5, 9], "batch_size": 2},
}


@pytest.mark.parametrize("dataset", sources.MAPS)
@pytest.mark.parametrize("sampler", SAMPLERS)
@examples(8)
@given(
    ops=operations(INLINE),
    lanes=st.sampled_from([0, 2]),
    lifetime=st.sampled_from(["run", "epoch"]),
)
def test_histories_of_samplers(
    dataset: Any, sampler: str, ops: list[Operation], lanes: int, lifetime: str
) -> None:
    def make(**execution: Any) -> Any:
        data = dataset(N)
        arguments = {**SAMPLERS[sampler](data), **execution}
        return midepoch.StatefulDataLoader(data, seed=5, lanes=lanes, collate_fn=keep, **arguments)

    agree(make, lifetime, ops, {})


@pytest.mark.parametrize("sampler", ["skipping", "counting", "replacing"])
@examples(5)
@given(ops=operations(PROCESSES), first=PROCESSES)
def test_histories_of_samplers_with_processes(
    sampler: str, ops: list[Operation], first: dict[str, Any]
) -> None:
    def make(**execution: Any) -> Any:
        data = sources.Counting(N)
        arguments = {**SAMPLERS[sampler](data), **execution}
        return midepoch.StatefulDataLoader(data, seed=5, lanes=2, collate_fn=keep, **arguments)

    agree(make, "run", ops, first)


@pytest.mark.parametrize("dataset", [sources.Plain, sources.Counting, sources.Resuming])
def test_a_state_of_three_workers_resumes_under_any_number(dataset: Any) -> None:
    shuffle = True if issubclass(dataset, sources.Plain) else None

    def make(workers: int) -> Any:
        return midepoch.StatefulDataLoader(
            dataset(N), 2, shuffle, num_workers=workers, collate_fn=keep
        )

    loader = make(3)
    batches = iter(loader)
    for _ in range(2):
        next(batches)
    state = loader.state_dict()
    rest = list(batches)
    following = list(loader)
    for workers in (0, 1, 2, 5):
        other = make(workers)
        other.load_state_dict(state)
        assert epochs(other, 2) == [rest, following]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_start_methods_do_not_show(method: str, helpers: None) -> None:
    def make(**execution: Any) -> Any:
        return midepoch.StatefulDataLoader(
            sources.Resuming(N), 2, seed=5, lanes=2, collate_fn=keep, **execution
        )

    loader = make(num_workers=1, multiprocessing_context=method)
    batches = iter(loader)
    first = [next(batches), next(batches)]
    state = loader.state_dict()
    del batches
    other = make()
    other.load_state_dict(state)
    assert [first + list(other)] == epochs(make())


def test_a_replay_of_plain_iterables_is_told_with_its_length() -> None:
    loader = midepoch.StatefulDataLoader(sources.Stream(N), 2, collate_fn=keep)
    batches = iter(loader)
    for _ in range(3):
        next(batches)
    other = midepoch.StatefulDataLoader(sources.Stream(N), 2, collate_fn=keep)
    other.load_state_dict(loader.state_dict())
    with pytest.warns(ReplayWarning, match="3 batches"):
        assert list(other) == list(batches)
