"""Worker threads: the same batches and states as any other workers, and nothing left behind."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sources
import torch
from histories import Operation, keep
from hypothesis import given
from hypothesis import strategies as st
from test_resume import INTERVALS, SAMPLERS, agree, examples, operations
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import midepoch
from midepoch import batch_info, state_to_json
from midepoch.errors import (
    ArgumentError,
    LaneCopyError,
    SlowWorkerWarning,
    WorkerDiedError,
    WorkerTimeoutError,
)
from midepoch.workers import threads

pytestmark = [
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
]

N = 11


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {
        "batch_size": 1,
        "seed": 5,
        "collate_fn": keep,
        "num_workers": 1,
        "worker_type": "thread",
        **arguments,
    }
    return midepoch.StatefulDataLoader(sources.Plain(N) if dataset is None else dataset, **chosen)


def own_row(index: int) -> list[float]:
    """Return a row whose values come from the batch's own generators."""
    info = batch_info()
    return [
        float(index),
        float(info.numpy.integers(1 << 20)),
        float(torch.randint(1 << 20, (), generator=info.torch).item()),
    ]


@pytest.fixture
def own_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all datasets of the tests draw from the batch's own generators."""
    monkeypatch.setattr(sources, "row", own_row)


KINDS = (sources.Plain, sources.Counting, sources.Stream, sources.Passing, sources.Cursors)


@pytest.mark.parametrize("dataset", KINDS)
def test_batches_and_states_are_those_of_processes(dataset: Any, own_rows: None) -> None:
    def run(**execution: Any) -> Any:
        made = loader(dataset(N), batch_size=2, lanes=2, **execution)
        seen = []
        for _ in range(2):
            for batch in made:
                seen.append((batch, state_to_json(made.state_dict())))
        return seen

    expected = run(num_workers=2, worker_type="process")
    assert run(num_workers=2) == expected
    assert run(num_workers=1, prefetch_factor=5) == expected


EXECUTIONS = st.fixed_dictionaries(
    {
        "snapshot_every_n_steps": INTERVALS,
        "num_workers": st.sampled_from([0, 1, 2, 3]),
        "persistent_workers": st.booleans(),
    }
).map(lambda chosen: {**chosen, "persistent_workers": chosen["num_workers"] > 1})


@pytest.mark.parametrize("lifetime", ["run", "epoch"])
@pytest.mark.parametrize("dataset", KINDS)
@examples(8)
@given(ops=operations(EXECUTIONS), lanes=st.sampled_from([0, 2, 3]), first=EXECUTIONS)
def test_histories_with_threads(
    dataset: Any, lifetime: str, ops: list[Operation], lanes: int, first: dict[str, Any]
) -> None:
    def make(**execution: Any) -> Any:
        return loader(dataset(N), batch_size=2, lanes=lanes, **{"num_workers": 0, **execution})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "row", own_row)
        agree(make, lifetime, ops, first)


@pytest.mark.parametrize("dataset", KINDS)
def test_a_state_crosses_between_the_kinds_of_workers(dataset: Any, own_rows: None) -> None:
    kinds: list[dict[str, Any]] = [
        {"num_workers": 0},
        {"num_workers": 1, "worker_type": "process"},
        {"num_workers": 2},
    ]

    def make(**execution: Any) -> Any:
        return loader(dataset(N), batch_size=2, lanes=2, **execution)

    whole = list(make(num_workers=2))
    for saving in kinds:
        made = make(**saving)
        batches = iter(made)
        first = [next(batches) for _ in range(3)]
        state = made.state_dict()
        del batches
        for loading in kinds:
            other = make(**loading)
            other.load_state_dict(state)
            assert first + list(other) == whole


@pytest.mark.parametrize("sampler", ["plain", "skipping", "replacing"])
@examples(4)
@given(ops=operations(EXECUTIONS), first=EXECUTIONS)
def test_histories_of_samplers_with_threads(
    sampler: str, ops: list[Operation], first: dict[str, Any]
) -> None:
    def make(**execution: Any) -> Any:
        data = sources.Counting(N)
        arguments = {**SAMPLERS[sampler](data), "num_workers": 0, **execution}
        return loader(data, lanes=2, **arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "row", own_row)
        agree(make, "run", ops, first)


def test_batches_out_of_order_come_once_over_a_resume() -> None:
    gate = threading.Event()
    made = loader(Waiting(N, gate), num_workers=2, in_order=False)
    batches = iter(made)
    first = [next(batches)[0] for _ in range(3)]
    assert 1 not in first
    state = made.state_dict()
    gate.set()
    other = loader(Waiting(N, gate), num_workers=1)
    other.load_state_dict(state)
    assert sorted(first + [batch[0] for batch in other]) == list(range(N))
    assert sorted(first + [batch[0] for batch in batches]) == list(range(N))


@pytest.mark.parametrize(
    "execution", [{"prefetch": 0}, {"prefetch": 3}, {"prefetch_next_epoch": True}], ids=str
)
def test_ways_to_prefetch_do_not_show(execution: dict[str, Any], own_rows: None) -> None:
    def run(**execution: Any) -> Any:
        made = loader(shuffle=True, num_workers=2, persistent_workers=True, **execution)
        return [list(made) for _ in range(3)]

    assert run(**execution) == run()


# What a lane sees


class Meeting(sources.Plain):
    """Each of two batches waits until the other is made, too."""

    barrier = threading.Barrier(2, timeout=30)

    def __getitem__(self, index: int) -> Any:
        self.barrier.wait()
        info: Any = get_worker_info()
        with pytest.raises((RuntimeError, AttributeError)):  # by version of torch
            info.id = 7
        return (info.id, info.num_workers, info.seed, type(info.dataset), threading.get_ident())


def test_two_threads_run_at_once_each_with_worker_information_of_its_own() -> None:
    rows = [batch[0] for batch in loader(Meeting(4), num_workers=2)]
    processes = loader(Counted(4), num_workers=2, worker_type="process")
    assert [row[:3] for row in rows] == [batch[0][:3] for batch in processes]
    assert {row[3] for row in rows} == {Meeting}
    assert len({row[4] for row in rows}) == 2
    assert get_worker_info() is None


class Counted(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        info: Any = get_worker_info()
        return (None,) if info is None else (info.id, info.num_workers, info.seed)


def test_worker_information_elsewhere_is_as_before() -> None:
    entered, leave = threading.Event(), threading.Event()

    class Gated(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            entered.set()
            assert leave.wait(30)
            return get_worker_info() is not None

    batches = iter(loader(Gated(1), lanes=1))
    assert entered.wait(30)
    assert get_worker_info() is None
    unsharded = loader(Counted(1), num_workers=0, lanes=3)
    assert next(iter(unsharded))[0][:2] == (0, 3)
    leave.set()
    assert list(batches) == [[True]]
    assert list(loader(Counted(1), lanes=0)) == [[(None,)]]
    theirs = DataLoader(Counted(2), num_workers=2, collate_fn=keep)
    assert [batch[0][0] for batch in theirs] == [0, 1]


class Around(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return (
            torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(),
            torch.is_autocast_enabled("cpu"),
            torch.get_autocast_dtype("cpu"),
            torch.is_autocast_cache_enabled(),
            str(torch.zeros(1).device),
        )


def test_a_thread_takes_over_what_torch_keeps_for_the_calling_one() -> None:
    plain = Around(1)[0]
    made = loader(Around(1), persistent_workers=True)
    with torch.no_grad(), torch.autocast("cpu", torch.float16, cache_enabled=False):
        here = Around(1)[0]
        assert list(made) == [[here]]
    with torch.inference_mode(), torch.device("meta"):
        there = Around(1)[0]
        assert list(made) == [[there]]
    assert list(made) == [[plain]]
    assert len({plain, here, there}) == 3


def test_the_global_streams_are_neither_seeded_nor_moved() -> None:
    random.seed(1), np.random.seed(2), torch.manual_seed(3)  # type: ignore[func-returns-value]
    expected = random.random(), np.random.random(), torch.rand(()).item()
    random.seed(1), np.random.seed(2), torch.manual_seed(3)  # type: ignore[func-returns-value]
    init: Any = lambda lane: None  # noqa: E731 -- any function
    assert len(list(loader(range(N), num_workers=2, worker_init_fn=init))) == N
    assert (random.random(), np.random.random(), torch.rand(()).item()) == expected


# Dataset objects


def test_lanes_run_on_copies_of_what_has_a_state_and_share_what_has_none() -> None:
    stateful = sources.Counting(N)
    assert len(list(loader(stateful, lanes=1))) == N
    assert (stateful.served, stateful.calls) == (0, 0)
    plain = Marked(4)
    assert list(loader(plain, num_workers=2)) == [[id(plain)]] * 4


class Marked(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return id(self)


def test_each_epoch_has_fresh_copies_unless_workers_persist() -> None:
    class Late(sources.Counting):
        extra = 0

        def __getitem__(self, index: int) -> Any:
            self.served += 1
            return (self.served, self.extra)

    for persistent in (False, True):
        dataset = Late(2)
        dataset.extra = lock = NoCopy()  # type: ignore[assignment]
        made = loader(dataset, persistent_workers=persistent, lanes=1)
        with pytest.raises(LaneCopyError, match=r"Late\.extra .* worker_type=.process."):
            iter(made)
        del lock
        dataset.extra = 1
        assert list(made) == [[(1, 1)], [(2, 1)]]
        dataset.extra = 2
        following = [[(3, 1)], [(4, 1)]] if persistent else [[(1, 2)], [(2, 2)]]
        assert list(made) == following


class NoCopy:
    def __reduce__(self) -> Any:
        raise TypeError("not to be copied")


@pytest.mark.parametrize("workers", [0, 1])
def test_torchs_collate_makes_no_shared_memory(workers: int) -> None:
    data = [torch.ones(3)] * 4
    made = loader(data, num_workers=workers, lanes=2, batch_size=2, collate_fn=None)
    assert [batch.is_shared() for batch in made] == [False, False]


# Faults


def test_an_error_arrives_in_its_own_type_with_its_traceback_and_the_next_batch_follows() -> None:
    class WrongError(Exception):
        def __init__(self, one: int, two: int) -> None:
            super().__init__(f"{one} and {two}")

    class Wrong(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            if index == 1:
                raise WrongError(1, 2)
            return index

    batches = iter(loader(Wrong(3)))
    assert next(batches) == [0]
    with pytest.raises(WrongError, match="1 and 2") as caught:
        next(batches)
    assert "__getitem__" in {frame.name for frame in traceback.extract_tb(caught.tb)}
    assert list(batches) == [[2]]


def test_what_ends_a_thread_is_an_error_and_the_loader_goes_on() -> None:
    class Leaving(sources.Plain):
        leaves = True

        def __getitem__(self, index: int) -> Any:
            if self.leaves and index == 1:
                sys.exit(3)
            return index

    dataset = Leaving(3)
    made = loader(dataset)
    batches = iter(made)
    assert next(batches) == [0]
    for _ in range(2):
        with pytest.raises(WorkerDiedError, match=r"exit code 3.*thread.*SystemExit: 3"):
            next(batches)
    state = made.state_dict()
    dataset.leaves = False
    made.load_state_dict(state)
    assert list(made) == [[1], [2]]


def test_an_error_of_a_lanes_start_arrives_at_iter() -> None:
    class Closed(IterableDataset[Any]):
        def __iter__(self) -> Iterator[Any]:
            raise OSError("closed")

    with pytest.raises(OSError, match="closed"):
        iter(loader(Closed(), num_workers=2))


def test_a_timeout_is_classic_and_the_batch_still_comes() -> None:
    gate = threading.Event()
    made = loader(Waiting(3, gate), timeout=0.2)
    batches = iter(made)
    assert next(batches) == [0]
    with pytest.raises(WorkerTimeoutError, match=r"timed out after 0\.2 seconds.*midepoch worker"):
        next(batches)
    assert made.state_dict()["position"]["batches"] == 1
    gate.set()
    assert list(batches) == [[1], [2]]


class Waiting(sources.Plain):
    def __init__(self, n: int, gate: threading.Event) -> None:
        super().__init__(n)
        self.gate = gate
        self.waits = threading.Event()

    def __getitem__(self, index: int) -> int:
        if index == 1:
            self.waits.set()
            assert self.gate.wait(30)
        return index


def test_closing_leaves_a_stuck_thread_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GRACE", 0.05)
    gate = threading.Event()
    dataset = Waiting(3, gate)
    made = loader(dataset)
    batches = iter(made)
    assert next(batches) == [0]
    assert dataset.waits.wait(30)
    stuck = [thread for thread in threading.enumerate() if thread.name == "midepoch worker 0"]
    with pytest.warns(SlowWorkerWarning, match="midepoch worker 0.*cannot be killed"):
        made._iterator = None
    gate.set()
    for thread in stuck:
        thread.join(30)


def test_an_iterator_may_be_dropped_by_the_code_of_a_lane() -> None:
    held: list[Any] = []
    gate, dropped = threading.Event(), threading.Event()

    class Dropping(sources.Plain):
        def __getitem__(self, index: int) -> int:
            assert gate.wait(30)
            held.clear()
            dropped.set()
            return index

    held.append(iter(loader(Dropping(3))))
    (thread,) = (one for one in threading.enumerate() if one.name == "midepoch worker 0")
    gate.set()
    assert dropped.wait(30)
    thread.join(30)
    assert not thread.is_alive()


def test_threads_run_ahead_but_no_further_than_asked_and_stop_when_left() -> None:
    asked: list[int] = []

    class Logged(sources.Plain):
        def __getitem__(self, index: int) -> int:
            asked.append(index)
            return index

    batches = iter(loader(Logged(N), prefetch_factor=2))
    assert [next(batches), next(batches)] == [[0], [1]]
    del batches
    assert asked == list(range(len(asked)))
    assert 2 <= len(asked) <= 4


@pytest.mark.parametrize("persistent", [False, True])
def test_threads_live_as_long_as_processes_do(persistent: bool) -> None:
    class Named(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            return threading.current_thread()

    made = loader(Named(3), persistent_workers=persistent)
    first, second = ({batch[0] for batch in made} for _ in range(2))
    assert (first == second) == persistent


def test_arguments_for_processes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="multiprocessing_context"):
        loader(multiprocessing_context="fork")
    with pytest.raises(ArgumentError, match="worker_restarts"):
        loader(worker_restarts=1)
    with pytest.raises(ArgumentError, match="worker_type should be one of 'process', 'thread'"):
        loader(worker_type="fiber")


PROGRAM = """
import os, sys
import midepoch
loader = midepoch.StatefulDataLoader(range(1000), num_workers=2, worker_type="thread")
batches = iter(loader)
next(batches)
child = os.fork()
if not child:
    try:
        next(batches)
    except midepoch.errors.StaleIteratorError as error:
        print("refused" if "fork" in str(error) else error)
    print(len(list(loader)))
    sys.exit(0)
print(os.waitpid(child, 0)[1], next(batches).item(), flush=True)
"""


def test_a_fork_has_none_of_the_threads_and_both_processes_end_while_an_iterator_is_live() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=90
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["refused", "1000", "0", "1"]
