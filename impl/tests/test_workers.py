"""Worker processes: transport, prefetch, persistence, timeouts, and that they leave nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sources
import torch
from histories import keep

import midepoch
from midepoch.errors import WorkerTimeoutError
from midepoch.workers.processes import UNANSWERED_BYTES

N = 11


def loader(dataset: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": 1, "seed": 5, "collate_fn": keep, "num_workers": 1, **arguments}
    return midepoch.StatefulDataLoader(dataset or sources.Plain(N), **chosen)


def test_what_cannot_be_pickled_is_an_error_and_the_next_batch_follows() -> None:
    class Some(sources.Plain):
        def __getitem__(self, index: int) -> Any:
            return (lambda: index) if index == 1 else index

    batches = iter(loader(Some(3)))
    assert next(batches) == [0]
    with pytest.raises(Exception, match="pickle"):
        next(batches)
    assert next(batches) == [2]


def test_large_tasks_and_large_batches_do_not_block_each_other() -> None:
    class Large(sources.Plain):
        def __getitems__(self, indices: list[int]) -> list[Any]:
            return [torch.zeros(500_000, dtype=torch.uint8), len(indices)]

    size = 40_000  # the task alone is more than a pipe holds
    assert size * 3 > UNANSWERED_BYTES
    made = loader(Large(size * 6), batch_size=size, prefetch_factor=4, shuffle=True)
    assert [batch[1] for batch in made] == [size] * 6


def test_prefetch_does_not_show_in_batches_or_states() -> None:
    def run(depth: int) -> Any:
        made = loader(sources.Counting(N), prefetch_factor=depth)
        batches = iter(made)
        got = [next(batches), next(batches)]
        return got, made.state_dict(), list(batches)

    assert run(1) == run(2) == run(7)


def test_workers_run_ahead_but_no_further_than_asked(tmp_path: Path) -> None:
    class Logged(sources.Plain):
        def __getitem__(self, index: int) -> int:
            (tmp_path / str(index)).touch()
            return index

    batches = iter(loader(Logged(N), prefetch_factor=2))
    assert next(batches) == [0]
    assert next(batches) == [1]
    # Dealt are the two delivered and two more, whatever the worker has done of it by now.
    assert {path.name for path in tmp_path.iterdir()} <= {"0", "1", "2", "3"}


class Pid(sources.Plain):
    def __getitem__(self, index: int) -> int:
        return os.getpid()


def pids(made: Any) -> set[int]:
    return {batch[0] for batch in made}


def test_persistent_workers_stay_also_after_a_resume() -> None:
    for made in (loader(Pid(3), persistent_workers=True), loader(Pid(3), persistent_workers=True)):
        made.load_state_dict(loader(Pid(3)).state_dict())
        first = pids(made)
        assert pids(made) == first
        assert os.getpid() not in first
    fresh = loader(Pid(3))
    assert pids(fresh) != pids(fresh)


def test_persistent_workers_survive_an_early_break() -> None:
    made = loader(Pid(N), persistent_workers=True)
    batches = iter(made)
    first = next(batches)[0]
    del batches
    assert pids(made) == {first}


@pytest.mark.parametrize("persistent", [False, True])
def test_setting_the_iterator_to_none_ends_the_workers(persistent: bool) -> None:
    made = loader(Pid(N), persistent_workers=persistent)
    batches = iter(made)
    first = next(batches)[0]
    made._iterator._shutdown_workers()
    assert not Path(f"/proc/{first}").exists()
    made._iterator = None
    state = made.state_dict()
    assert state["position"]["batches"] == 1
    assert first not in pids(made)


def test_a_timeout_is_classic_and_the_batch_still_comes(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    class Waiting(sources.Plain):
        def __getitem__(self, index: int) -> int:
            if index == 1:
                gate.read_text()
            return index

    made = loader(Waiting(3), timeout=0.2)
    batches = iter(made)
    assert next(batches) == [0]
    with pytest.raises(WorkerTimeoutError, match=r"DataLoader timed out after 0\.2 seconds"):
        next(batches)
    assert made.state_dict()["position"]["batches"] == 1
    gate.write_text("open")
    assert list(batches) == [[1], [2]]


def test_a_replay_does_not_count_against_the_timeout(tmp_path: Path) -> None:
    class Slow(sources.Stream):
        def __iter__(self) -> Iterator[int]:
            import time

            for index in range(4):
                if index < 3:
                    time.sleep(0.1)  # three of them are more than the timeout
                yield index

    made = loader(Slow(N), timeout=0.25)
    batches = iter(made)
    for _ in range(3):
        next(batches)
    other = loader(Slow(N), timeout=0.25)
    other.load_state_dict(made.state_dict())
    with pytest.warns(midepoch.errors.ReplayWarning):
        assert list(other) == [[3]]


def test_more_workers_than_lanes_share_the_work_of_plain_map_style_datasets() -> None:
    made = loader(Pid(N), num_workers=2, lanes=0)
    assert len(pids(made)) == 2
    assert len(list(loader(sources.Stream(N), num_workers=2, lanes=1))) == N
    assert list(loader(num_workers=2, lanes=0)) == list(loader(num_workers=0, lanes=0))


def test_unpicklable_functions_work_under_fork() -> None:
    made = loader(collate_fn=lambda samples: len(samples), batch_size=4)
    assert list(made) == [4, 4, 3]
    assert isinstance(made.multiprocessing_context, type(None))


def test_the_excessive_worker_warning_is_torchs() -> None:
    with pytest.warns(UserWarning, match="This DataLoader will create 4096 worker processes"):
        loader(num_workers=4096)
