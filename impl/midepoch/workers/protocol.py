"""The interface between the epoch iterator and the workers that run its tasks."""

from __future__ import annotations

from typing import Any, Protocol

from midepoch.lane.messages import Open, Reply, Snapshot, Task

__all__ = ["Workers"]


class Workers(Protocol):
    """Runs tasks; the replies to one lane's tasks come in the order of the tasks."""

    count: int
    """The number of workers; worker ``route % count`` runs a task."""
    capacity: int
    """How many tasks may be in flight at a time."""
    ahead: bool
    """Whether tasks run before their replies are requested."""

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """Start an epoch on the lanes that the message names; return the requested snapshots.

        If the user's code raises at the start of a lane, ``open`` raises that error.
        """
        ...

    def renew(self, dataset: Any) -> bool:
        """Let the next epoch run on copies of ``dataset``; return False if it cannot be sent."""
        ...

    def submit(self, task: Task) -> None:
        """Queue a task; never waits for a worker."""
        ...

    def next_reply(self, awaited: int) -> Reply:
        """Return the next reply; ``awaited``: the worker of the oldest task without one.

        Raises:
            WorkerDiedError: that worker ended; all its replies were returned before. Or another
                one ended, and that worker gives no reply.
            WorkerTimeoutError: no reply came within the loader's ``timeout``.
        """
        ...

    def members(self) -> list[Any]:
        """Return the processes or threads that run the tasks."""
        ...

    def close(self) -> None:
        """Stop the workers and free their resources; may be called again."""
        ...
