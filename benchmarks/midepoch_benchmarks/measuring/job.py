"""What an entrant is told: the case's parameters, its dataset, the time of a round."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from midepoch_benchmarks.entries import Entry
from midepoch_benchmarks.measuring.contenders import Setting
from midepoch_benchmarks.measuring.datasets import made

__all__ = ["Job"]


@dataclasses.dataclass(frozen=True)
class Job:
    """A case as its entrants see it.

    Attributes:
        parameters: of the case.
        seconds: how long a round should take.
        dataset: the dataset, None where the measure makes its own.
        interval: steps between two snapshots; None for none.
        threads: whether workers are threads.
    """

    parameters: Mapping[str, Any]
    seconds: float
    dataset: Any = None
    interval: int | None = 1
    threads: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any], seconds: float) -> Job:
        """Return the job, its dataset made (and calibrated) once for all entrants."""
        return cls(parameters, seconds, made(parameters) if "data" in parameters else None)

    def by(self, entry: Entry) -> Job:
        """Return the job as it is for ``entry``: what is asked of the loader's workers alone."""
        return dataclasses.replace(
            self,
            interval=1 if entry.snapshots else None,
            threads=bool(self.parameters.get("threads")) and not entry.peer,
        )

    def setting(self, **more: Any) -> Setting:
        """Return what a loader is built with: a copy of the dataset, and the parameters."""
        told = {
            "dataset": copy.deepcopy(self.dataset),
            "workers": self.parameters.get("workers", 0),
            "threads": self.threads,
            "shuffle": self.parameters.get("shuffle", False),
            "lanes": self.parameters.get("lanes"),
            "interval": self.interval,
            **more,
        }
        return Setting(**told)
