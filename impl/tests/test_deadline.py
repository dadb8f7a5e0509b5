"""The deadline of a wait: the timeout, or the warning of a loader that has none."""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import sources
from histories import keep

import midepoch
from midepoch.errors import SlowWorkerWarning, WorkerTimeoutError
from midepoch.workers import deadline, processes
from midepoch.workers.deadline import Deadline


class Gated(sources.Plain):
    """Row 1 and all later rows wait until the gate is opened."""

    def __init__(self, n: int, gate: Path) -> None:
        super().__init__(n)
        self.gate = gate
        self.shut = True
        os.mkfifo(gate)

    def __getitem__(self, index: int) -> int:
        if index >= 1 and self.shut:
            self.gate.read_text()
            self.shut = False
        return index


def loader(gate: Path, **arguments: Any) -> Any:
    dataset = Gated(4, gate)
    return midepoch.StatefulDataLoader(dataset, num_workers=1, collate_fn=keep, **arguments)


def test_a_timeout_names_who_is_waited_for(tmp_path: Path) -> None:
    batches = iter(loader(tmp_path / "gate", timeout=0.1))
    next(batches)
    words = r"timed out after 0\.1 seconds; waited for worker 0 \(pid \d+\), making batch 1"
    with pytest.raises(WorkerTimeoutError, match=words):
        next(batches)
    (tmp_path / "gate").write_text("open")  # else closing would wait for the worker


@pytest.mark.parametrize("timeout", [0, 0.1])
def test_a_stuck_worker_does_not_hold_up_a_dropped_loader(
    timeout: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert processes.GRACE == 5
    monkeypatch.setattr(processes, "GRACE", 1000.0 if timeout else 0.2)
    batches: Any = iter(loader(tmp_path / "gate", timeout=timeout))
    next(batches)
    worker = batches._workers[0]
    if timeout:
        with pytest.raises(WorkerTimeoutError):
            next(batches)
    del batches
    assert worker.exitcode == -signal.SIGTERM


def test_a_late_worker_that_answers_has_its_time_again(tmp_path: Path) -> None:
    batches: Any = iter(loader(tmp_path / "gate", timeout=0.1))
    next(batches)
    with pytest.raises(WorkerTimeoutError):
        next(batches)
    (tmp_path / "gate").write_text("open")
    assert next(batches) == [1]
    assert not any(worker.late for worker in batches._team._workers)


def test_a_long_wait_is_hinted_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "HINT", 0.1)
    batches = iter(loader(tmp_path / "gate"))
    next(batches)
    said: list[Any] = []

    def show(message: Any, *_: Any, **__: Any) -> None:
        said.append(message)
        (tmp_path / "gate").write_text("open")  # without the warning, the wait would never end

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", show)
        assert list(batches) == [[1], [2], [3]]
    assert [type(message) for message in said] == [SlowWorkerWarning]
    assert "worker 0 (pid" in str(said[0])
    assert "making batch 1 of epoch 0 (lane 0)" in str(said[0])


def test_the_hint_says_whom_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "HINT", 0.0)
    wait = Deadline(0)
    with pytest.warns(SlowWorkerWarning, match=r"worker 3.*py-spy.*num_workers=0.*timeout="):
        wait.check(lambda: "worker 3", excused=False)
    wait.check(lambda: "worker 3", excused=False)  # once
    assert wait.left(excused=False) is None


def test_a_timeout_counts_from_the_end_of_what_is_excused() -> None:
    wait = Deadline(3600)
    assert wait.left(excused=True) is None
    wait._since -= 4000
    wait.check(lambda: "worker 3", excused=True)
    assert 3590 < (wait.left(excused=False) or 0) <= 3600
    wait._since -= 4000
    assert wait.left(excused=False) == 0
    with pytest.raises(WorkerTimeoutError, match="timed out after 3600 seconds; waited for you"):
        wait.check(lambda: "you", excused=False)


def test_time_between_two_waits_does_not_count() -> None:
    wait = Deadline(3600)
    wait._since = time.monotonic() - 4000
    wait.begin()
    assert (wait.left(excused=False) or 0) > 3590
