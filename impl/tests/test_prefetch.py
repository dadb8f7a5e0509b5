"""How many batches are under way, and the next epoch, begun before the caller asks for it."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import shuffled
import sources
import torch
from histories import Operation, epochs, keep, play
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from shuffled import ShuffledWorkers
from torch.utils.data import DistributedSampler, RandomSampler, WeightedRandomSampler

import midepoch
from midepoch.errors import ArgumentError, WorkerDiedError

N = 11

pytestmark = [
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled.install(monkeypatch)


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 2, "seed": 5, "collate_fn": keep, "lanes": 2, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


# How many are under way


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("dataset", [sources.Plain, sources.Counting, sources.Resuming])
@pytest.mark.parametrize(("prefetch", "most"), [(0, 1), (1, 1), (3, 3), (7, 7), (None, 4)])
def test_prefetch_is_the_number_of_batches_under_way(
    dataset: Any, prefetch: int | None, most: int, in_order: bool
) -> None:
    made = loader(dataset(40), num_workers=2, prefetch=prefetch, in_order=in_order)
    whole = list(loader(dataset(40)))
    got = list(made)
    assert ShuffledWorkers.most == most
    assert sorted(map(repr, got)) == sorted(map(repr, whole))
    assert got == whole or not (in_order or most == 1 or dataset is sources.Counting)


FETCHED = multiprocessing.Value("i", 0)
"""Made once: it keeps descriptors for as long as the process lives."""


class Counted(sources.Plain):
    """Counts over all processes what was fetched; a fetch of the epoch after opens a gate."""

    def __init__(self, n: int, gate: Any = None) -> None:
        super().__init__(n)
        FETCHED.value = 0
        self.gate = gate

    def __getitem__(self, index: int) -> Any:
        with FETCHED.get_lock():
            FETCHED.value += 1
            if FETCHED.value > self.n and self.gate is not None:
                self.gate.set()
        return super().__getitem__(index)


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_without_prefetch_nothing_is_fetched_before_it_is_asked_for(kind: Any) -> None:
    made = loader(Counted(N), num_workers=2, prefetch=0, worker_type=kind)
    batches = iter(made)
    assert FETCHED.value == 0
    for taken, batch in enumerate(batches, 1):
        assert FETCHED.value == min(2 * taken, N)
        assert len(batch) == min(2, N - 2 * (taken - 1))


def test_arguments_that_contradict_prefetch_are_refused() -> None:
    for arguments, words in (
        ({"prefetch": 3, "prefetch_factor": 2, "num_workers": 2}, "give one of them"),
        ({"prefetch": 3}, "needs workers"),
        ({"prefetch": -1, "num_workers": 2}, "from 0 to"),
        ({"prefetch_next_epoch": True}, "persistent_workers=True"),
        ({"prefetch_next_epoch": True, "num_workers": 2}, "persistent_workers=True"),
        ({"prefetch_next_epoch": 1, "num_workers": 2}, "True or False"),
        (
            {
                "prefetch_next_epoch": True,
                "num_workers": 2,
                "persistent_workers": True,
                "prefetch": 0,
            },
            "forbids",
        ),
    ):
        with pytest.raises(ArgumentError, match=words):
            loader(**arguments)


# The next epoch

EARLY = {"num_workers": 2, "persistent_workers": True, "prefetch_next_epoch": True}


@pytest.mark.parametrize("kind", ["process", "thread"])
def test_the_next_epoch_is_fetched_before_it_is_asked_for(kind: Any) -> None:
    gate = multiprocessing.Event()
    dataset = Counted(N, gate)
    made = loader(dataset, worker_type=kind, shuffle=True, **EARLY)
    first = list(made)
    assert gate.wait(60)
    state = made.state_dict()
    assert (state["position"]["epoch"], state["position"]["batches"]) == (1, 0)
    rows = [[[r[0] for r in b] for b in e] for e in (first, list(made))]
    plain = epochs(loader(sources.Plain(N), shuffle=True), 2)
    assert rows == [[[r[0] for r in b] for b in e] for e in plain]


def generator() -> torch.Generator:
    made = torch.Generator()
    made.manual_seed(9)
    return made


PLANS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "sequential": lambda data: {},
    "shuffle": lambda data: {"shuffle": True},
    "rollover": lambda data: {"shuffle": True, "last_batch": "rollover", "batch_size": 4},
    "random": lambda data: {"sampler": RandomSampler(data, generator=generator())},
    "weighted": lambda data: {
        "sampler": WeightedRandomSampler([1.0] * N, N, generator=generator())
    },
    "distributed": lambda data: {"sampler": DistributedSampler(data, 2, 1, seed=3)},
    "list": lambda data: {"sampler": [3, 1, 4, 1, 5]},
    "lively": lambda data: {"sampler": sources.Lively(N)},
    "counting": lambda data: {"sampler": sources.EpochCountingSampler(N)},
    "skipping": lambda data: {"sampler": sources.SkippingSampler(N)},
}

OPERATIONS: st.SearchStrategy[list[Operation]] = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.sampled_from([1, 2, 7, 7, 9])),
        st.just(("break", None)),
        st.tuples(st.just("save"), st.just({})),
    ),
    min_size=1,
    max_size=6,
).map(lambda ops: [*ops, ("take", 16)])


def histories_agree(make: Callable[..., Any], ops: list[Operation]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        shuffled.install(patch)
        expected = play(lambda **_: make(), ops, resume=False)
        for resume in (False, True):
            assert play(lambda **_: make(prefetch_next_epoch=True), ops, resume=resume) == expected


few = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("dataset", sources.MAPS)
@few
@given(ops=OPERATIONS)
def test_an_early_epoch_does_not_show(dataset: Any, plan: str, ops: list[Operation]) -> None:
    def make(**early: Any) -> Any:
        data = dataset(N)
        return loader(data, num_workers=2, persistent_workers=True, **PLANS[plan](data), **early)

    histories_agree(make, ops)


@pytest.mark.parametrize("dataset", sources.STREAMS)
@few
@given(ops=OPERATIONS)
def test_an_early_epoch_of_a_stream_does_not_show(dataset: Any, ops: list[Operation]) -> None:
    def make(**early: Any) -> Any:
        arguments = {"num_workers": 2, "persistent_workers": True, "lifetime": "run"}
        return loader(dataset(N), **arguments, **early)

    histories_agree(make, ops)


def _set_epoch(made: Any) -> None:
    made.sampler.set_epoch(made.sampler.epoch + 7)


def _seed_again(made: Any) -> None:
    made.sampler.generator.manual_seed(77)


def _grow(made: Any) -> None:
    made.dataset.n += 3


def _let_go(made: Any) -> None:
    made._iterator = None


def _peek(made: Any) -> None:
    iter(made)


def _nothing(made: Any) -> None:
    pass


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("dataset", sources.MAPS)
@pytest.mark.parametrize(
    ("plan", "change", "kept"),
    [
        ("distributed", _nothing, True),
        ("distributed", _set_epoch, False),
        ("random", _nothing, True),
        ("random", _seed_again, False),
        ("shuffle", _grow, False),
        ("shuffle", _let_go, False),
        ("random", _let_go, False),
        ("weighted", _peek, True),
    ],
)
def test_what_changes_between_two_epochs_discards_the_early_one(
    dataset: Any, plan: str, change: Callable[[Any], None], kept: bool
) -> None:
    outcomes = []
    for early in (False, True):
        data = dataset(N)
        made = loader(
            data,
            num_workers=2,
            persistent_workers=True,
            prefetch_next_epoch=early,
            **PLANS[plan](data),
        )
        seen: list[Any] = [list(made)]
        for _ in range(2):
            assert (made._pool.between.early is not None) is early
            change(made)
            seen.append(midepoch.state_to_json(made.state_dict()))
            held = made._pool.between.early
            batches = iter(made)
            if early and change is not _peek:
                taken = held is not None and batches._schedule is held.schedule
                assert taken is kept
            seen.append(list(batches))
        outcomes.append(seen)
    assert outcomes[0] == outcomes[1]


@pytest.mark.usefixtures("in_process")
def test_a_load_after_the_end_discards_the_early_epoch() -> None:
    made = loader(sources.Passing(N), lifetime="run", **EARLY)
    arguments = {"num_workers": 2, "persistent_workers": True, "lifetime": "run"}
    whole = epochs(loader(sources.Passing(N), **arguments), 3)
    batches = iter(made)
    got = [next(batches), next(batches)]
    state = made.state_dict()
    assert got + list(batches) == whole[0]
    early = made._pool.between.early
    made.load_state_dict(state)
    assert early.schedule.workers.closed
    assert list(made) == whole[0][2:]
    assert epochs(made, 2) == whole[1:]


def test_of_the_users_sampler_nothing_is_drawn_that_could_not_be_put_back() -> None:
    class Noting(sources.Lively):
        passes = 0

        def __iter__(self) -> Iterator[int]:
            self.passes += 1
            return super().__iter__()

    sampler = Noting(N)
    made = loader(sampler=sampler, **EARLY)
    list(made)
    assert made._pool.between.early is None
    assert sampler.passes == 1

    drawn = RandomSampler(sources.Plain(N), generator=generator())
    made = loader(sampler=drawn, **EARLY)
    twin = loader(sampler=RandomSampler(sources.Plain(N), generator=generator()))
    list(made)
    list(twin)
    assert made._pool.between.early is not None
    assert torch.equal(drawn.generator.get_state(), twin.sampler.generator.get_state())


class Failing(sources.Stream):
    """Cannot be iterated a second time."""

    passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        if self.passes == 2:
            raise OSError("no second pass")
        return super().__iter__()


def test_an_error_at_the_start_of_an_early_epoch_comes_when_it_is_asked_for() -> None:
    for early in (False, True):
        made = loader(Failing(N), **{**EARLY, "prefetch_next_epoch": early})
        assert len(list(made)) == 6
        if not early:
            with pytest.raises(OSError, match="no second pass"):
                iter(made)
        # Here the workers were ended with the error, and new ones know of no earlier pass.
        assert len(list(made)) == 6


def test_a_worker_that_dies_in_an_early_epoch_is_told_in_that_epoch() -> None:
    made = loader(**EARLY)
    assert len(list(made)) == 6
    os.kill(made._pool.between.early.schedule.workers.members()[0].pid, signal.SIGKILL)
    batches = iter(made)
    with pytest.raises(WorkerDiedError, match="killed by signal"):
        list(batches)
    assert len(list(made)) == 6


def test_a_loader_that_was_dropped_leaves_no_early_epoch() -> None:
    made = loader(sources.Plain(N), **EARLY)
    list(made)
    workers = weakref.ref(made._pool.between.early.schedule.workers)
    gc.disable()
    try:
        del made
        assert workers() is None
    finally:
        gc.enable()


def test_threads_of_an_early_epoch_end_with_the_loader() -> None:
    made = loader(sources.Counting(N), worker_type="thread", **EARLY)
    list(made)
    assert threading.active_count() > 1
    made._iterator = None
    assert made._pool.between.early is None


class Grads(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return torch.is_grad_enabled()


def test_threads_take_over_what_is_in_force_when_the_epoch_is_asked_for() -> None:
    made = loader(Grads(N), worker_type="thread", **EARLY)
    assert all(map(all, made))
    with torch.no_grad():
        assert not any(map(any, made))
    assert all(map(all, made))


# Several iterators


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize("dataset", [sources.Counting, sources.Passing, sources.Plain])
def test_an_older_iterator_goes_on_and_the_state_is_the_newest_ones(
    dataset: Any, keeps: bool
) -> None:
    def make() -> Any:
        return loader(dataset(N), num_workers=2, persistent_workers=keeps)

    whole = make()
    expected = next(iter(whole))
    second = list(whole)
    third = list(whole)
    made = make()
    older = iter(made)
    assert next(older) == expected
    newer = iter(made)
    got = [next(newer), next(newer)]
    state = made.state_dict()
    list(older)  # to its end: its workers are not those that the next epoch goes on with
    assert midepoch.state_to_json(made.state_dict()) == midepoch.state_to_json(state)
    got += newer
    assert [got, list(made)] == [second, third]


class _LastFirst:
    choice = staticmethod(max)


@pytest.mark.usefixtures("in_process")
def test_an_answer_that_was_not_delivered_is_not_seen_after_a_break(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ShuffledWorkers, "rng", _LastFirst())
    outcomes = []
    for arguments in ({}, {"num_workers": 2, "persistent_workers": True}):
        made = loader(sources.Counting(4), **arguments)
        batches = iter(made)
        got = [next(batches)]  # with workers the second, and last, has been answered by now
        del batches
        outcomes.append([got, list(made)])
    assert outcomes[0] == outcomes[1]


def test_an_older_iterator_of_a_dataset_object_with_a_state_stops() -> None:
    made = loader(sources.Resuming(N), lanes=0, lifetime="run")
    older = iter(made)
    next(older)
    newer = iter(made)
    got = [next(newer)]
    with pytest.raises(midepoch.errors.StaleIteratorError, match="newer iterator"):
        next(older)
    state = made.state_dict()
    got += newer
    other = loader(sources.Resuming(N), lanes=0)
    other.load_state_dict(state)
    assert got[1:] == list(other)


# Intervals between snapshots


class Called(sources.Counting):
    all_calls = 0

    def state_dict(self) -> dict[str, Any]:
        Called.all_calls += 1
        return super().state_dict()


class CalledStream(sources.Passing):
    def state_dict(self) -> dict[str, Any]:
        Called.all_calls += 1
        return super().state_dict()


@pytest.mark.parametrize("interval", [None, 0, 1, 2, 5, 100])
@pytest.mark.parametrize("dataset", [sources.Counting, sources.Passing, sources.Buffered])
def test_a_state_is_exact_at_every_step_under_any_interval(
    dataset: Any, interval: int | None
) -> None:
    def make() -> Any:
        return loader(dataset(N), snapshot_every_n_steps=interval)

    made = make()
    batches, states, got = iter(made), [made.state_dict()], []
    for batch in batches:
        got.append(batch)
        states.append(made.state_dict())
    following = list(made)
    for step, state in enumerate(states):
        other = make()
        other.load_state_dict(state)
        assert epochs(other, 2) == [got[step:], following]


@pytest.mark.parametrize("lanes", [1, 3])
@pytest.mark.parametrize("interval", [None, 1, 2, 5, 100])
@pytest.mark.parametrize("dataset", [Called, CalledStream])
def test_state_dict_is_called_as_often_as_the_interval_asks(
    dataset: Any, interval: int | None, lanes: int
) -> None:
    Called.all_calls = 0
    made = loader(dataset(60), lanes=lanes, snapshot_every_n_steps=interval)
    # A lane of a stream has its own turns, of as many whole batches as fit into the interval.
    turns = max(1, interval // lanes) if interval and dataset is CalledStream else interval
    takers = 1 if dataset is CalledStream else lanes
    for batches, _ in enumerate(made, 1):
        made.state_dict()
        snapshots = batches // turns if turns else 0
        assert Called.all_calls <= takers * snapshots + 3 * lanes
    assert batches == 30
