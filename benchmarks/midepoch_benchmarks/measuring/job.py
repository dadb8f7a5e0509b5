"""A case as its entrants see it: the parameters, the dataset, the time of a round."""

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
    """A case as its entrants see it."""

    parameters: Mapping[str, Any]
    """The parameters of the case."""
    seconds: float
    """The planned time of a round."""
    dataset: Any = None
    """The dataset; None: the measure makes its own."""
    interval: int | None = 1
    """The steps between two snapshots; None: no snapshots."""
    threads: bool = False
    """Whether workers are threads."""

    @classmethod
    def of(cls, parameters: Mapping[str, Any], seconds: float) -> Job:
        """Return the job, its dataset made (and calibrated) once for all entrants."""
        return cls(parameters, seconds, made(parameters) if "data" in parameters else None)

    def by(self, entry: Entry) -> Job:
        """Return the job for ``entry``: only the loader itself has threads as workers."""
        return dataclasses.replace(
            self,
            interval=1 if entry.snapshots else None,
            threads=bool(self.parameters.get("threads")) and not entry.peer,
        )

    def setting(self, **more: Any) -> Setting:
        """Return the setting of a loader: a copy of the dataset, and the parameters."""
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
