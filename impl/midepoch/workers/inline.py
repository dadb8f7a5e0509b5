"""Workers that are none: tasks run in the caller's process, when their answer is asked for."""

from __future__ import annotations

from collections import deque

from midepoch import streams
from midepoch.lanes import LaneSpec
from midepoch.messages import Open, Reply, Snapshot, Task
from midepoch.workers.hosting import LaneDatasets, LaneHost, Pristine

__all__ = ["InlineWorkers"]


class InlineWorkers:
    """Runs every lane here; the caller's random streams and threads are put back afterwards."""

    count = 1
    capacity = 1
    ahead = False

    def __init__(
        self, spec: LaneSpec, datasets: LaneDatasets, pristine: Pristine | None = None
    ) -> None:
        self._host = LaneHost(spec, datasets, pristine)
        self._tasks: deque[Task] = deque()

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        with streams.isolated(), streams.one_thread():
            opened = self._host.open(message)
        if opened.failure is not None:
            raise opened.failure.exception()
        return opened.reports

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._tasks.append(task)

    def next_reply(self) -> Reply:
        """See ``Workers.next_reply``."""
        with streams.isolated(), streams.one_thread():
            reply = self._host.run(self._tasks[0])
        self._tasks.popleft()
        return reply

    def close(self) -> None:
        """See ``Workers.close``."""
        self._tasks.clear()
