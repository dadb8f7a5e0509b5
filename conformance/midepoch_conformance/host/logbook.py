"""The workload's log as a session is played: what was fetched and called (standard library)."""

from __future__ import annotations

import contextlib
import dataclasses
import os

from midepoch_conformance.case.workload import Workload

__all__ = ["Log"]


class Log:
    """The workload's log of one session, read piece by piece."""

    def __init__(self, workload: Workload, folder: str) -> None:
        self.path: str | None = None
        self.workload = workload
        self.offset = 0
        if workload.log == "auto":
            self.path = os.path.join(folder, "log")
            self.workload = dataclasses.replace(workload, log=self.path)

    def counts(self) -> tuple[int | None, dict[str, int] | None]:
        """Return what was fetched and which calls were noted since the last time."""
        if self.path is None:
            return None, None
        found = {"fetch": 0, "state_dict": 0, "iter": 0}
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as log:
            log.seek(self.offset)
            # A line is written in one piece, so that what is there ends with a whole one.
            lines = log.read().splitlines()
            self.offset = log.tell()
            for line in lines:
                what = line.decode().split()[1]
                found[what] = found.get(what, 0) + 1
        return found.pop("fetch"), found
