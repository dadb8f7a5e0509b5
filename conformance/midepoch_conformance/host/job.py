"""One session as the host is asked to play it, as data (standard library only)."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Step
from midepoch_conformance.case.workload import Workload

__all__ = ["CLOSING", "Job"]

CLOSING = 5.0
"""The seconds in which a closed loader must release its processes and all else that it holds."""


@dataclasses.dataclass
class Job:
    """One session as the host is asked to play it."""

    workload: Workload
    """With ``log="auto"`` it gets a fresh log in ``folder``.
    Each event carries the counts since the event before."""
    execution: Execution
    """The loader's execution."""
    steps: tuple[Step, ...]
    """The steps."""
    ambient: int
    """The seed of the three global random streams before the loader is built."""
    root: str
    """The folder that ``Adapter.prepare`` got for this workload."""
    folder: str
    """The folder of this session's files; nothing else writes there."""
    states: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """The encodings of earlier sessions: codec and file by name."""
    left: tuple[int | None, ...] = ()
    """For each step, the batches that the open epoch has left before it; None: unknown.
    They distinguish an error at the end of an epoch from an earlier one."""
    patience: float = CLOSING
    """The seconds in which a closed loader must release what it held."""
    temporary: str = ""
    """The temporary folder of the whole play; empty: the host's own."""
    memory: str = ""
    """Its folder in the shared memory; empty: the machine's."""

    @property
    def journal(self) -> str:
        """Return the path of the session's journal."""
        return os.path.join(self.folder, "journal")

    def to_json(self) -> dict[str, Any]:
        """Return the job as JSON types."""
        return {
            **vars(self),
            "workload": vars(self.workload),
            "execution": vars(self.execution),
            "steps": [vars(step) for step in self.steps],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Job:
        """Read what :meth:`to_json` wrote."""
        return Job(
            **{
                **data,
                "workload": Workload(
                    **{**data["workload"], "draws": tuple(data["workload"]["draws"])}
                ),
                "execution": Execution(**data["execution"]),
                "steps": tuple(Step(**step) for step in data["steps"]),
                "states": {name: (kept[0], kept[1]) for name, kept in data["states"].items()},
                "left": tuple(data["left"]),
            }
        )
