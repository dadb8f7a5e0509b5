"""``loader.stats()``: the counts of a run so far."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import sources
import torch
from histories import keep

import midepoch

N = 8
EXECUTIONS: dict[str, dict[str, Any]] = {
    "inline": {},
    "process": {"num_workers": 2},
    "thread": {"num_workers": 2, "worker_type": "thread"},
}
everywhere = pytest.mark.parametrize("execution", EXECUTIONS.values(), ids=EXECUTIONS)


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "lanes": 2, "collate_fn": keep, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Counting(N), **chosen)


@everywhere
def test_counts_are_of_the_loaders_life(execution: dict[str, Any]) -> None:
    made = loader(**execution)
    nothing = made.stats()
    assert (nothing.batches, nothing.waited, nothing.seconds, nothing.busy) == (0, 0.0, 0.0, ())
    batches = iter(made)
    next(batches)
    state = made.state_dict()
    rest = len(list(batches))
    made.load_state_dict(state)
    assert len(list(made)) == rest == N - 1
    stats = made.stats()
    assert stats.batches == N + rest
    assert 0 < stats.waited < stats.seconds
    assert len(stats.busy) == max(1, made.num_workers)
    assert all(0 < share < 1 for share in stats.busy)
    assert (stats.under_way, stats.ready, stats.ready_bytes, stats.restarts) == (0, 0, 0, 0)
    assert stats.replayed == 0
    assert made.stats() == stats


@everywhere
def test_snapshots_and_replays_are_counted(execution: dict[str, Any]) -> None:
    made = loader(snapshot_every_n_steps=4, **execution)
    batches = iter(made)
    for _ in range(6):
        next(batches)
    assert made.stats().snapshots == 2  # of two lanes, at the first cut
    other = loader(**execution)
    other.load_state_dict(made.state_dict())
    assert len(list(other)) == 2
    assert other.stats().replayed == 2
    del batches


@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")
@everywhere
def test_replays_of_iterables_are_counted(execution: dict[str, Any]) -> None:
    made = loader(sources.Stream(N), **execution)
    batches = iter(made)
    for _ in range(3):
        next(batches)
    other = loader(sources.Stream(N), **execution)
    other.load_state_dict(made.state_dict())
    assert len(list(other)) == N - 3
    assert (other.stats().replayed, other.stats().batches) == (3, N - 3)
    del batches


def test_replaced_workers_are_counted(tmp_path: Path) -> None:
    died = tmp_path / "died"

    class Dying(sources.Plain):
        def __getitem__(self, index: int) -> int:
            if index == 3 and not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return index

    made = loader(Dying(N), num_workers=2, worker_restarts=1)
    assert list(made) == [[i] for i in range(N)]
    assert (made.stats().restarts, made.stats().batches) == (1, N)


def test_what_is_under_way_and_what_has_arrived() -> None:
    gate = threading.Event()

    class Gated(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            assert index != 2 or gate.wait(30)
            return torch.zeros(10, dtype=torch.uint8)

    made = loader(Gated(N), num_workers=2, worker_type="thread", prefetch_factor=2)
    batches = iter(made)
    next(batches), next(batches)
    stats = made.stats()
    assert stats.under_way == 4
    gate.set()
    next(batches)  # the third is late: what came before it was taken in meanwhile
    stats = made.stats()
    assert (stats.under_way, stats.ready_bytes) == (4, 10 * stats.ready)
    made._iterator = None
    assert (made.stats().under_way, made.stats().ready) == (0, 0)


@everywhere
def test_what_the_datasets_code_takes_is_in_what_its_workers_were_busy(
    execution: dict[str, Any],
) -> None:
    class Timed(sources.Plain):
        def __getitem__(self, index: int) -> float:
            start = time.perf_counter()
            torch.ones(100, 100).matmul(torch.ones(100, 100))
            return time.perf_counter() - start

    made = loader(Timed(N), **execution)
    taken = [batch[0] for batch in made]
    stats = made.stats()
    for worker, share in enumerate(stats.busy):
        mine = sum(taken[worker :: len(stats.busy)])
        assert mine < share * stats.seconds < stats.seconds
    if not execution:
        assert sum(taken) < stats.waited


def test_stats_can_be_asked_by_another_thread() -> None:
    made = loader(sources.Plain(2000), num_workers=1, worker_type="thread")
    seen: list[int] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(made.stats().batches)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        assert len(list(made)) == 2000
    finally:
        done.set()
        watcher.join()
    assert seen == sorted(seen)
    assert made.stats().batches == 2000
