"""What the epoch iterator needs of those who run its tasks, wherever they run."""

from __future__ import annotations

from typing import Protocol

from midepoch.lane.messages import Open, Reply, Snapshot, Task

__all__ = ["Workers"]


class Workers(Protocol):
    """Runs tasks; the answers to one lane's tasks come in the order of the tasks."""

    count: int
    """How many there are; a task runs at worker ``route % count``."""
    capacity: int
    """How many tasks may be under way at a time."""
    ahead: bool
    """Tasks run before their answers are asked for."""

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """Start an epoch on the lanes named; return the reports asked for.

        Raises what the user's code raised at the start of a lane.
        """
        ...

    def submit(self, task: Task) -> None:
        """Take a task; does not block on what a worker does."""
        ...

    def next_reply(self) -> Reply:
        """Return the next answer.

        Raises:
            WorkerDiedError: a worker ended; all that it had answered was returned before.
            WorkerTimeoutError: no answer came within the loader's ``timeout``.
        """
        ...

    def close(self) -> None:
        """Stop and leave nothing behind; may be called again."""
        ...
