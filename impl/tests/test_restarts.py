"""Replaced workers: no death shows in the batches or in a state (FAULT-8)."""

from __future__ import annotations

import faulthandler
import itertools
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sources
import torch
from histories import keep

import midepoch
from midepoch import state_to_json
from midepoch.errors import ArgumentError, WorkerDiedError, WorkerStartError
from midepoch.lane.messages import Open, Opening
from midepoch.lane.progress import FRESH
from midepoch.workers import processes
from midepoch.workers.task_log import TaskLog

N = 23


def loader(dataset: Any, **arguments: Any) -> Any:
    chosen = {
        "batch_size": 2,
        "seed": 5,
        "collate_fn": keep,
        "num_workers": 2,
        "worker_restarts": 3,
        **arguments,
    }
    return midepoch.StatefulDataLoader(dataset, **chosen)


def die(how: str) -> None:
    faulthandler.disable()  # pytest's: its report of the signal is not this test's
    if how == "exit":
        os._exit(3)
    os.kill(os.getpid(), getattr(signal, how))


@pytest.fixture
def deadly(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Let the worker that makes a row die of it, so many times."""

    def arm(index: int, times: int = 1, how: str = "SIGKILL") -> None:
        original = sources.row

        def row(number: int) -> Any:
            if number == index:
                for turn in range(times):
                    marker = tmp_path / f"{index}-{turn}"
                    if not marker.exists():
                        marker.touch()
                        die(how)
            return original(number)

        monkeypatch.setattr(sources, "row", row)

    return arm


def story(made: Any, before: Callable[[Any], None] = lambda batches: None) -> list[Any]:
    """Return the batches and states of a whole epoch, of a broken one, and of two more."""
    told: list[Any] = []
    for steps in (None, 3, None, None):
        batches = iter(made)
        for _ in itertools.count() if steps is None else range(steps):
            before(batches)
            batch = next(batches, "end")
            told += [batch, state_to_json(made.state_dict())]
            if batch == "end":
                break
        del batches
    return told


EXECUTIONS: list[dict[str, Any]] = [
    {},
    {"persistent_workers": True},
    {"persistent_workers": True, "lifetime": "run"},
    {"lanes": 5, "persistent_workers": True, "snapshot_every_n_steps": 4},
    {"num_workers": 1, "lanes": 0, "snapshot_every_n_steps": None, "prefetch_factor": 4},
    {"persistent_workers": True, "prefetch_next_epoch": True, "prefetch": 5},
]


KINDS = sources.MAPS + sources.STREAMS


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [(kind, EXECUTIONS[2]) for kind in KINDS]
    + list(zip(KINDS[:6], (EXECUTIONS[i] for i in (4, 3, 1, 4, 0, 4)), strict=True)),
)
def test_a_death_shows_nowhere(
    kind: Any, arguments: dict[str, Any], deadly: Callable[..., None]
) -> None:
    undisturbed = story(loader(kind(N), worker_restarts=0, **arguments))
    deadly(0)
    deadly(7, how="exit")
    deadly(N - 2, how="SIGSEGV")
    assert story(loader(kind(N), **arguments)) == undisturbed


@pytest.mark.parametrize("kind", [sources.Counting, sources.Passing, sources.Buffered])
def test_workers_killed_from_outside_at_any_time_show_nowhere(kind: Any) -> None:
    arguments = {
        "persistent_workers": True,
        "lifetime": "run",
        "lanes": 3,
        "snapshot_every_n_steps": 3,
    }
    draw = random.Random(kind.__name__)
    calm = 0

    def kill(batches: Any) -> None:
        nonlocal calm
        calm += 1
        # Not thrice within what is under way: the same batch would be found to kill.
        if calm > 2 and draw.randrange(2):
            os.kill(draw.choice(batches._workers).pid, signal.SIGKILL)
            calm = 0

    undisturbed = story(loader(kind(N), **arguments, batch_size=1))
    disturbed = loader(kind(N), **arguments, batch_size=1, worker_restarts=1000)
    assert story(disturbed, kill) == undisturbed


@pytest.mark.parametrize("kind", KINDS)
def test_workers_killed_between_two_epochs_show_nowhere(kind: Any) -> None:
    arguments = {
        "persistent_workers": True,
        "lifetime": "run",
        "lanes": 3,
        "snapshot_every_n_steps": 100,
    }

    def epochs(kills: bool) -> list[Any]:
        made = loader(kind(N), **arguments)
        told = []
        for _ in range(3):
            told.append(list(made))
            idle = made._pool.between.idle
            if kills:
                for pid in [one.pid for one in idle.members()]:
                    os.kill(pid, signal.SIGKILL)
        assert made.stats().restarts == (4 if kills else 0)
        return told

    assert epochs(kills=True) == epochs(kills=False)


@pytest.mark.parametrize("kind", [sources.Counting, sources.Cursors])
def test_a_resumed_loader_heals_too(kind: Any, deadly: Callable[..., None]) -> None:
    arguments = {"snapshot_every_n_steps": 4, "persistent_workers": True}
    made = loader(kind(N), **arguments)
    batches = iter(made)
    for _ in range(5):
        next(batches)
    state = made.state_dict()
    rest = [list(batches), list(made)]
    del batches
    deadly(1)  # replayed at the resume
    deadly(16)
    other = loader(kind(N), **arguments)
    other.load_state_dict(state)
    assert [list(other), list(other)] == rest


@pytest.mark.parametrize("kind", [sources.Plain, sources.Resuming])
def test_out_of_order_each_batch_still_comes_once(kind: Any, deadly: Callable[..., None]) -> None:
    expected = sorted(loader(kind(N)))
    deadly(0)
    deadly(9)
    assert sorted(loader(kind(N), in_order=False)) == expected


def test_a_death_while_a_lane_is_opened_heals(tmp_path: Path) -> None:
    def initialise(lane: int) -> None:
        marker = tmp_path / str(lane)
        if not marker.exists():
            marker.touch()
            die("SIGKILL")

    made = loader(sources.Resuming(N), worker_init_fn=initialise)
    assert list(made) == list(loader(sources.Resuming(N)))


def test_errors_are_shown_once_and_in_their_place(deadly: Callable[..., None]) -> None:
    class Failing(sources.Counting):
        def __getitem__(self, index: int) -> Any:
            if index in (2, 9):
                raise LookupError(str(index))
            return super().__getitem__(index)

    def told() -> list[Any]:
        batches = iter(loader(Failing(N), batch_size=1, snapshot_every_n_steps=5))
        out: list[Any] = []
        while True:
            try:
                out.append(next(batches))
            except StopIteration:
                return out
            except LookupError as error:
                out.append(str(error).splitlines()[0])

    undisturbed = told()
    deadly(11)
    deadly(14)
    assert told() == undisturbed


@pytest.mark.parametrize(("how", "restarts"), [("SIGSEGV", 1), ("exit", 1), ("SIGKILL", 2)])
def test_a_batch_that_kills_again_and_again_is_named(
    how: str, restarts: int, deadly: Callable[..., None]
) -> None:
    deadly(7, times=99, how=how)
    made = loader(sources.Counting(N), worker_restarts=50)
    batches = iter(made)
    assert len([next(batches), next(batches), next(batches)]) == 3
    with pytest.raises(
        WorkerDiedError, match=r"also died while it was making batch 3 of epoch 0 \(lane 1\):"
    ):
        next(batches)
    assert made.stats().restarts == restarts

    stream = loader(sources.Stream(N), worker_restarts=50)
    with pytest.raises(
        WorkerDiedError, match=r"also died while it was making batch 1 of epoch 0 \(lane 1\):"
    ):
        list(stream)


def test_an_innocent_batch_is_not_blamed_for_two_kills_from_outside(tmp_path: Path) -> None:
    gate = tmp_path / "gate"

    class Slow(sources.Plain):
        def __getitem__(self, index: int) -> int:
            while index == 3 and not gate.exists():
                time.sleep(0.01)
            return index

    made = loader(Slow(6), batch_size=1, num_workers=1, worker_restarts=9)
    batches = iter(made)
    told = [next(batches) for _ in range(3)]

    def kill_twice() -> None:
        for turn in range(2):
            while made.stats().restarts < turn:
                time.sleep(0.01)
            time.sleep(0.5)  # the worker is at row 3 by then
            os.kill(batches._workers[0].pid, signal.SIGTERM if turn else signal.SIGKILL)
        gate.touch()

    killer = threading.Thread(target=kill_twice)
    killer.start()
    told += batches
    killer.join()
    assert told == [[index] for index in range(6)]
    assert made.stats().restarts == 2


def test_an_opening_that_kills_twice_is_named() -> None:
    made = loader(sources.Plain(N), worker_init_fn=lambda lane: die("exit"), worker_restarts=9)
    with pytest.raises(WorkerDiedError, match=r"died while it was starting epoch 0 \(lane [01]\):"):
        iter(made)


def test_restarts_are_counted_for_each_epoch_and_run_out(deadly: Callable[..., None]) -> None:
    deadly(3)
    deadly(12, times=2)
    made = loader(sources.Plain(N), worker_restarts=1, num_workers=1, persistent_workers=True)
    batches = iter(made)
    with pytest.raises(WorkerDiedError, match="worker_restarts=1 are used up"):
        list(batches)
    # The next iterator may restart again: row 12 kills for the last time.
    assert len(list(made)) == 12
    assert made.stats().restarts == 2


def test_without_restarts_the_error_names_the_batch_and_the_switch(
    deadly: Callable[..., None],
) -> None:
    deadly(4)
    batches = iter(loader(sources.Stream(N), worker_restarts=0, num_workers=1))
    next(batches), next(batches)
    with pytest.raises(WorkerDiedError, match="worker_restarts=N") as caught:
        next(batches)
    assert "making batch 2 of epoch 0 (lane 0)" in str(caught.value)
    assert "is killed by signal: Killed" in str(caught.value)


@pytest.mark.parametrize("value", [-1, 1.5, True, "2", None])
def test_worker_restarts_is_checked(value: Any) -> None:
    with pytest.raises(ArgumentError, match="worker_restarts"):
        loader(sources.Plain(N), worker_restarts=value)


class Unloadable(sources.Resuming):
    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise LookupError("it was deleted")


def test_lanes_that_cannot_be_put_back_are_an_error(deadly: Callable[..., None]) -> None:
    deadly(9)
    with pytest.raises(WorkerDiedError, match="cannot be replaced: LookupError") as caught:
        list(loader(Unloadable(N)))
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_replacement_that_cannot_be_started_is_an_error(
    deadly: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    deadly(9)
    batches = iter(loader(sources.Plain(N)))

    def start(*_: Any) -> Any:
        raise WorkerStartError("no processes are left")

    # Before the first batch: a worker that prefetches row 9 early is replaced while one waits.
    monkeypatch.setattr(processes, "start", start)
    with pytest.raises(WorkerDiedError, match=r"cannot be replaced: WorkerStartError: no pro"):
        list(batches)


class Stateless(sources.Counting):
    """Its state_dict fails."""

    def state_dict(self) -> dict[str, Any]:
        raise LookupError("no state")


@pytest.mark.filterwarnings("ignore::midepoch.errors.SnapshotWarning")
def test_a_failing_state_dict_costs_a_replay_within_an_epoch(deadly: Callable[..., None]) -> None:
    undisturbed = list(loader(sources.Counting(N)))
    deadly(15)
    assert list(loader(Stateless(N))) == undisturbed


@pytest.mark.filterwarnings("ignore::midepoch.errors.SnapshotWarning")
def test_lanes_of_which_no_state_is_known_are_an_error() -> None:
    made = loader(Stateless(N), persistent_workers=True)
    list(made)
    batches = iter(made)
    os.kill(batches._workers[0].pid, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match=r"cannot be replaced.*lane 0 failed"):
        list(batches)


def test_a_replay_after_a_death_does_not_count_against_the_timeout(tmp_path: Path) -> None:
    marker = tmp_path / "died"

    class Slow(sources.Plain):
        """Three batches replayed take longer than the timeout; the rest is fast."""

        def __init__(self, n: int) -> None:
            super().__init__(n)
            self.again = False

        def __getitem__(self, index: int) -> int:
            if index == 3 and not marker.exists():
                marker.touch()
                die("SIGKILL")
            if marker.exists() and index < 3:
                time.sleep(0.15)
            return index

        def state_dict(self) -> dict[str, Any]:
            return {}

        def load_state_dict(self, state: dict[str, Any]) -> None:
            pass

    made = loader(Slow(5), batch_size=1, num_workers=1, timeout=0.3, snapshot_every_n_steps=None)
    assert list(made) == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_worker_of_another_start_method_is_replaced_too(method: str, helpers: None) -> None:
    made = loader(sources.Counting(N), multiprocessing_context=method, num_workers=1)
    batches: Iterator[Any] = iter(made)
    told = [next(batches), next(batches)]
    os.kill(batches._workers[0].pid, signal.SIGKILL)  # type: ignore[attr-defined]
    assert told + list(batches) == list(loader(sources.Counting(N), num_workers=1))


class Large(sources.Plain):
    def __getitems__(self, indices: list[int]) -> torch.Tensor:
        return torch.tensor(indices)


def test_large_tasks_and_answers_survive_a_death() -> None:
    made = loader(Large(240_000), batch_size=40_000, prefetch_factor=4, shuffle=True)
    batches: Iterator[Any] = iter(made)
    told = [next(batches)]
    for one in batches._workers:  # type: ignore[attr-defined]
        os.kill(one.pid, signal.SIGKILL)
    told += list(batches)
    assert torch.equal(torch.cat(told).sort().values, torch.arange(240_000))


def test_a_task_log_drops_what_an_older_iterator_asked() -> None:
    log = TaskLog(iterable=False, stateful=False, remembers=True)
    assert log.activity() is None
    assert log.start_over(0) == []
    old = Open(0, 0, (Opening(0, None, False),))
    new = Open(1, 1, (Opening(0, FRESH, False),))
    log.sent(old)
    log.sent(new)
    assert [asked.question for asked in log.start_over(1)] == [new]
    assert not log.asked
