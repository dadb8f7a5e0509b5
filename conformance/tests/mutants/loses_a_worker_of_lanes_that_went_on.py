"""Does not note the states of lanes that go on into an epoch: a worker that dies then is lost."""

from typing import Any

from format_base import mutant

from midepoch.workers.task_log import TaskLog

EXPECTED = "FAULT-8"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 2}


def know(log: Any, lane: int, snapshot: Any) -> None:
    """Take the state of a lane for unknown."""
    log._unknown[lane] = "it was not noted"


TaskLog._know = know  # type: ignore[method-assign]

Adapter = mutant()
