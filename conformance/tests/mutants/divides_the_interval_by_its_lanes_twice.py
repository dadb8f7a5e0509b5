"""Divides the interval by the number of lanes twice: several lanes take snapshots too often."""

import dataclasses
from typing import Any

from format_base import mutant

from midepoch.epoch.pool import WorkerPool

EXPECTED = "COST-2"
LARGEST = {"workers": 0, "sessions": 1, "steps": 1, "samples": 1840}

divided_once = WorkerPool._spec


def divided_twice(pool: Any, *given: Any) -> Any:
    """Return how lanes run, with another interval than the right one."""
    spec = divided_once(pool, *given)
    return dataclasses.replace(spec, interval=max(1, spec.interval // max(1, spec.lanes)))


WorkerPool._spec = divided_twice  # type: ignore[method-assign]

Adapter = mutant()
