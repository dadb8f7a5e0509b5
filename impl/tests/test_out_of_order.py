"""Delivery out of order: what is delivered, what a state says of it, and how it resumes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import second
import shuffled
import sources
from histories import epochs, keep, with_lifetime
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from shuffled import ShuffledWorkers
from torch.utils.data import BatchSampler, get_worker_info

import midepoch
from midepoch.epoch.progress import Delivered
from midepoch.epoch.schedule import WINDOW
from midepoch.errors import ReplayMismatchError

N = 17
Make = Callable[..., Any]

pytestmark = [
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


@pytest.fixture
def any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled.install(monkeypatch)


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 2, "seed": 5, "collate_fn": keep, "lanes": 3, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


def resumed(state: dict[str, Any], dataset: Any = None, **arguments: Any) -> Any:
    second.validate(state, state["plan"])
    made = loader(dataset, **arguments)
    made.load_state_dict(state)
    assert midepoch.state_to_json(made.state_dict()) == midepoch.state_to_json(state)
    return made


@given(count=st.integers(0, 4), order=st.permutations(range(12)), shown=st.integers(0, 12))
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
def test_delivered_counts_like_a_set(count: int, order: list[int], shown: int) -> None:
    delivered, reference = Delivered(count), set(range(count))
    for index in [i for i in order if i >= count][:shown]:
        delivered.add(index)
        reference.add(index)
        again = Delivered(delivered.count, delivered.ahead())
        for one in (delivered, again):
            assert {i for i in range(12) if i in one} == reference
            assert one.low == min(set(range(13)) - reference)
            assert one.reach == max(reference) + 1
            assert one.count == len(reference)


# Histories: whatever was saved, loaded and broken off, an epoch is delivered exactly once

EXECUTIONS = st.fixed_dictionaries(
    {"num_workers": st.sampled_from([0, 2, 3, 3]), "in_order": st.sampled_from([True, False])}
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(1, 6)),
        st.tuples(st.just("save"), EXECUTIONS),
    ),
    min_size=2,
    max_size=8,
)


def examples(count: int) -> settings:
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )


def frozen(batch: Any) -> str:
    return repr(batch)


def deliver(make: Make, ops: list[tuple[str, Any]]) -> list[list[Any]]:
    """Return the batches of three epochs, taken and resumed as ``ops`` say; then to the end."""
    made = make(num_workers=3, in_order=False)
    batches = iter(made)
    out: list[list[Any]] = [[]]
    for name, value in [*ops, ("take", 150)]:
        if name == "save":
            state = made.state_dict()
            second.validate(state, state["plan"])
            del batches
            made = make(**value)
            made.load_state_dict(state)
            assert midepoch.state_to_json(made.state_dict()) == midepoch.state_to_json(state)
            batches = iter(made)
            continue
        for _ in range(value):
            if len(out) > 3:
                break
            try:
                out[-1].append(next(batches))
            except StopIteration:
                out.append([])
                batches = iter(made)
    return out[:3]


def agree(make: Make, ops: list[tuple[str, Any]], seed: int, *, ordered: bool = False) -> None:
    ShuffledWorkers.rng.seed(seed)
    got, expected = deliver(make, ops), epochs(make(), 3)
    if ordered:
        assert got == expected
    assert [Counter(map(frozen, e)) for e in got] == [Counter(map(frozen, e)) for e in expected]


@pytest.mark.parametrize("dataset", [*sources.MAPS, *sources.STREAMS])
@examples(7)
@given(
    ops=STEPS,
    seed=st.integers(0, 2**16),
    lanes=st.sampled_from([1, 2, 3, 7]),
    batch_size=st.sampled_from([None, 1, 2]),
    drop_last=st.booleans(),
    shuffle=st.booleans(),
    lifetime=st.sampled_from(["epoch", "run"]),
)
def test_histories_deliver_each_batch_once(
    dataset: Any,
    ops: list[tuple[str, Any]],
    seed: int,
    lanes: int,
    batch_size: int | None,
    drop_last: bool,
    shuffle: bool,
    lifetime: str,
) -> None:
    def make(**execution: Any) -> Any:
        plan = {"lanes": lanes, "batch_size": batch_size, "snapshot_every_n_steps": 3}
        plan["drop_last"] = drop_last and batch_size is not None
        if issubclass(dataset, sources.Plain):
            plan["shuffle"] = shuffle
        return with_lifetime(loader(dataset(N), **plan, **execution), lifetime)

    with pytest.MonkeyPatch.context() as patch:
        shuffled.install(patch)
        agree(make, ops, seed, ordered=dataset is sources.Counting)


SAMPLERS: dict[str, Callable[[], dict[str, Any]]] = {
    "plain": lambda: {"sampler": sources.Lively(N)},
    "unbatched": lambda: {"sampler": sources.Lively(N), "batch_size": None},
    "skipping": lambda: {"sampler": sources.SkippingSampler(N)},
    "counting": lambda: {"sampler": sources.EpochCountingSampler(N)},
    "buckets": lambda: {"batch_sampler": sources.Buckets(N), "batch_size": 1},
    "inner": lambda: {
        "batch_sampler": BatchSampler(sources.SkippingSampler(N), 3, True),
        "batch_size": 1,
    },
    "rollover": lambda: {"last_batch": "rollover", "batch_size": 4, "shuffle": True},
}


@pytest.mark.parametrize("sampler", SAMPLERS)
@examples(5)
@given(ops=STEPS, seed=st.integers(0, 2**16), interval=st.sampled_from([1, 3, None]))
def test_histories_of_samplers_deliver_each_batch_once(
    sampler: str, ops: list[tuple[str, Any]], seed: int, interval: int | None
) -> None:
    def make(**execution: Any) -> Any:
        return loader(snapshot_every_n_steps=interval, **SAMPLERS[sampler](), **execution)

    with pytest.MonkeyPatch.context() as patch:
        shuffled.install(patch)
        agree(make, ops, seed)


# What a state says


@pytest.mark.usefixtures("any_order")
def test_a_batch_that_hangs_bounds_how_far_delivery_runs() -> None:
    ShuffledWorkers.held = 4
    made = loader(sources.Plain(400), num_workers=3, in_order=False)
    batches = iter(made)
    window = WINDOW * 6
    # All but what is under way at the worker that hangs.
    behind = 2
    got = [next(batches) for _ in range(4 + window - behind)]
    position = made.state_dict()["position"]
    assert position["batches"] == len(got)
    assert position["samples"] == 2 * len(got)
    assert max(position["ahead"]) < 4 + window
    ShuffledWorkers.held = None
    rest = list(batches)
    whole = [frozen(batch) for batch in loader(sources.Plain(400))]
    assert sorted(map(frozen, got + rest)) == sorted(whole)


@pytest.mark.usefixtures("any_order")
def test_a_short_batch_ahead_counts_its_own_samples() -> None:
    ShuffledWorkers.held = 1
    made = loader(sources.Plain(7), num_workers=3, in_order=False)
    batches = iter(made)
    got = [next(batches) for _ in range(2)]
    while 3 not in made.state_dict()["position"]["ahead"]:
        got.append(next(batches))
    state = made.state_dict()
    assert state["position"]["samples"] == sum(map(len, got))
    other = resumed(state, sources.Plain(7))
    assert sorted(map(frozen, got + list(other))) == sorted(map(frozen, loader(sources.Plain(7))))


class Other(sources.Lively):
    """Gives the same at first, and something else at the end."""

    def __iter__(self) -> Iterator[int]:
        *start, _, _ = super().__iter__()
        yield from [*start, 0, 0]


@pytest.mark.usefixtures("any_order")
def test_a_sampler_that_differs_in_what_was_ahead_is_refused() -> None:
    ShuffledWorkers.held = 1
    made = loader(sampler=sources.Lively(8), num_workers=3, in_order=False)
    batches = iter(made)
    while 3 not in made.state_dict()["position"]["ahead"]:
        next(batches)
    state = made.state_dict()
    assert state["position"]["batches"] - len(state["position"]["ahead"]) == 1
    other = resumed({**state, "plan": {**state["plan"], "sampler_name": "Other"}}, sampler=Other(8))
    with pytest.raises(ReplayMismatchError, match="first 4 batches"):
        iter(other)
    assert len(list(resumed(state, sampler=sources.Lively(8)))) == 4 - state["position"]["batches"]


class Faulty(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        if index == 6:
            raise ValueError("row 6")
        return super().__getitem__(index)


@pytest.mark.usefixtures("any_order")
def test_an_error_takes_its_own_turn() -> None:
    ShuffledWorkers.held = 1
    made = loader(Faulty(N), num_workers=3, in_order=False)
    batches = iter(made)
    got: list[Any] = []
    raised: list[str] = []
    while not raised:
        try:
            got.append(next(batches))
        except ValueError as error:
            raised.append(str(error))
    assert raised == ["row 6"]
    state = made.state_dict()
    assert 3 in state["position"]["ahead"]
    assert state["position"]["batches"] == len(got) + 1
    assert len(list(resumed(state, Faulty(N)))) == 8 - len(got)


class BreakingSampler(sources.Lively):
    def __iter__(self) -> Iterator[int]:
        yield from (0, 1, 2, 3)
        raise KeyError("no more")


@pytest.mark.usefixtures("any_order")
def test_a_samplers_error_is_raised_once() -> None:
    made = loader(sampler=BreakingSampler(N), num_workers=3, in_order=False)
    got: list[Any] = []
    batches = iter(made)
    while len(got) < 3:
        try:
            got.append(next(batches))
        except KeyError as error:
            got.append(error)
    assert sum(isinstance(one, KeyError) for one in got) == 1
    assert list(batches) == []


# In processes and threads, with a gate that only the test opens


class Gated(sources.Plain):
    def __init__(self, n: int, gate: Any) -> None:
        super().__init__(n)
        self.gate = gate

    def __getitem__(self, index: int) -> list[float]:
        if index == 0:
            assert self.gate.wait(60)
        return [float(index)]


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_what_is_ready_passes_what_hangs(kind: Any) -> None:
    gate = multiprocessing.Event() if kind == "process" else threading.Event()
    made = loader(
        Gated(11, gate), batch_size=1, num_workers=2, in_order=False, lanes=2, worker_type=kind
    )
    batches = iter(made)
    got = [next(batches)[0][0] for _ in range(5)]
    state = made.state_dict()
    assert 0.0 not in got
    assert state["position"]["ahead"] == sorted(map(int, got))
    gate.set()
    rest = [batch[0][0] for batch in batches]
    assert sorted(got + rest) == [float(i) for i in range(11)]
    assert made.state_dict()["position"]["epoch"] == 1
    other = resumed(state, Gated(11, gate), batch_size=1, lanes=2)
    assert [batch[0][0] for batch in other] == [float(i) for i in range(11) if i not in got]


class Deadly(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        if index == 3 and info is not None and DEATHS.value == 0:
            DEATHS.value = 1
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__getitem__(index)


DEATHS = multiprocessing.Value("i", 0, lock=False)


def test_a_worker_that_is_replaced_delivers_each_batch_once() -> None:
    DEATHS.value = 0
    made = loader(Deadly(N), num_workers=2, in_order=False, worker_restarts=1)
    got = list(made)
    assert DEATHS.value == 1
    assert sorted(map(frozen, got)) == sorted(map(frozen, loader(sources.Plain(N))))


class GatedStream(sources.Stream):
    def __init__(self, n: int, gate: Any) -> None:
        super().__init__(n)
        self.gate = gate

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        assert info is not None
        for index in sources.shard(self.n):
            if info.id == 0:
                assert self.gate.wait(60)
            yield [float(index)]


def test_a_lane_that_hangs_is_passed_by_the_others() -> None:
    gate = multiprocessing.Event()
    made = loader(GatedStream(10, gate), batch_size=1, num_workers=2, in_order=False, lanes=2)
    batches = iter(made)
    got = [next(batches)[0][0] for _ in range(5)]
    assert got == [1.0, 3.0, 5.0, 7.0, 9.0]
    state = made.state_dict()
    assert state["position"]["ahead"] == []
    assert [e["ordinal"] + e["replay"] for e in state["lanes"]["entries"]] == [0, 5]
    gate.set()
    rest = [batch[0][0] for batch in batches]
    assert rest == [0.0, 2.0, 4.0, 6.0, 8.0]
    other = resumed(state, GatedStream(10, gate), batch_size=1, num_workers=2, lanes=2)
    assert [batch[0][0] for batch in other] == rest
