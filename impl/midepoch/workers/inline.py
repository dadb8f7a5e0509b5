"""Runs tasks in the caller's process, each when its reply is requested."""

from __future__ import annotations

from collections import deque
from contextlib import nullcontext
from typing import Any

from midepoch.lane import streams
from midepoch.lane.host import LaneDatasets, LaneHost
from midepoch.lane.lane import LaneSpec
from midepoch.lane.messages import Open, Reply, Snapshot, Task
from midepoch.lane.passes import FirstState
from midepoch.stats import Tally

__all__ = ["InlineWorkers"]


class InlineWorkers:
    """Runs every lane in the caller's thread, and restores its random streams and thread count.

    ``isolate_streams`` and ``single_thread`` switch the two off.
    """

    count = 1
    capacity = 1
    ahead = False

    def __init__(
        self,
        spec: LaneSpec,
        datasets: LaneDatasets,
        first_state: FirstState | None = None,
        *,
        tally: Tally,
    ) -> None:
        self._host = LaneHost(spec, datasets, first_state)
        self._tally = tally
        self._tasks: deque[Task] = deque()
        self._isolated = streams.isolated if spec.isolate_streams else nullcontext
        self._one_thread = streams.one_thread if spec.single_thread else nullcontext

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        with self._isolated(), self._one_thread():
            opened = self._host.open(message)
        if opened.failure is not None:
            raise opened.failure.exception()
        return opened.reports

    def renew(self, dataset: object) -> bool:
        """See ``Workers.renew``; each epoch's inline workers are new ones."""
        return False

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._tasks.append(task)

    def next_reply(self, awaited: int) -> Reply:
        """See ``Workers.next_reply``."""
        with self._isolated(), self._one_thread():
            reply = self._host.run(self._tasks[0])
        self._tasks.popleft()
        self._tally.worked(0, reply.busy)
        return reply

    def members(self) -> list[Any]:
        """See ``Workers.members``."""
        return []

    def close(self) -> None:
        """See ``Workers.close``."""
        self._tasks.clear()
