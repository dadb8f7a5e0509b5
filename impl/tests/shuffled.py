"""Workers in this process that answer in any order: a history with them starts fast."""

from __future__ import annotations

import copy
import random
from collections import deque
from typing import Any

import pytest

from midepoch.lane import streams
from midepoch.lane.host import LaneDatasets, LaneHost
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Open, Reply, Snapshot, Task

__all__ = ["ShuffledWorkers", "install"]


class ShuffledWorkers:
    """Takes the place of worker processes: each has its tasks in order, all are interleaved."""

    ahead = True
    rng = random.Random(0)
    held: int | None = None
    """The map-style batch that is never answered while it is set."""
    most = 0
    """The most tasks that were ever under way."""
    made = 0

    def __init__(
        self, spec: LaneSpec, dataset: Any, *, count: int, depth: int, **others: Any
    ) -> None:
        self.count = count
        self.capacity = max(1, depth) * count
        self.closed = False
        dataset = copy.deepcopy(dataset)
        self._hosts = [
            LaneHost(spec, LaneDatasets(spec, copy.deepcopy(dataset), own=True))
            for _ in range(count)
        ]
        self._iteration = -1
        self._tasks: list[deque[Task]] = [deque() for _ in range(count)]
        ShuffledWorkers.made += 1

    def renew(self, dataset: Any) -> bool:
        """See ``Workers.renew``."""
        return False

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        while any(self._tasks):  # of an older iteration: they are run and dropped, as in a process
            self._run(next(n for n, tasks in enumerate(self._tasks) if tasks))
        reports: dict[int, Snapshot | None] = {}
        for number, host in enumerate(self._hosts):
            mine = message.at(number, self.count)
            with streams.isolated():
                opened = host.open(Open(message.iteration, message.epoch, mine))
            if opened.failure is not None:
                raise opened.failure.exception()
            reports.update(opened.reports)
        return reports

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        assert not self.closed
        self._tasks[task.route % self.count].append(task)
        ShuffledWorkers.most = max(self.most, sum(map(len, self._tasks)))

    def next_reply(self, awaited: int) -> Reply:
        """See ``Workers.next_reply``."""
        ready = [
            number
            for number, tasks in enumerate(self._tasks)
            if tasks and (self.held is None or getattr(tasks[0], "number", None) != self.held)
        ]
        return self._run(self.rng.choice(ready))

    def _run(self, number: int) -> Reply:
        with streams.isolated():
            return self._hosts[number].run(self._tasks[number].popleft())

    def close(self) -> None:
        """See ``Workers.close``."""
        self.closed = True


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loaders use these workers in place of processes."""
    monkeypatch.setattr("midepoch.epoch.pool.ProcessWorkers", ShuffledWorkers)
    for name, value in (("rng", random.Random(0)), ("held", None), ("most", 0), ("made", 0)):
        monkeypatch.setattr(ShuffledWorkers, name, value)
