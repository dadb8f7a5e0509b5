"""The records of a session: its journal, and the workload's log of fetches (standard library).

The journal is written while the session is played, and read when the session is over. It survives
the process: a session that hangs or crashes leaves everything that it had delivered. Each line is
a JSON array; its first item is the line's name.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.trace import Batch, Event, Fault, SessionTrace, session_from_json
from midepoch_conformance.case.workload import Workload

__all__ = ["FetchLog", "Journal", "JournalEnd", "read_journal"]

_OUT_OF_REACH = 200
"""The journal's lowest descriptor: loaders that close descriptors by number use low ones."""

_ENCODER = json.JSONEncoder(separators=(",", ":"))

_NOTED = ("batches", "opened", "ended")
"""The fields of an event that have lines of their own."""


class Journal:
    """Writes one session's journal, even if the loader closes descriptors or forks."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.pid = os.getpid()
        self.fd, self.key = -1, (0, 0)
        self.phase = ""

    def descriptor(self) -> int:
        """Return the journal's own descriptor, or -1 if it has none."""
        return self.fd if self._is_open() else -1

    def at(self, phase: str) -> None:
        """Note the next phase: it names the place of a hang or a crash."""
        if phase != self.phase:
            self.phase = phase
            self._write(["at", phase])

    def step(self, index: int, do: str) -> None:
        """Note that a step begins."""
        self._write(["step", index, do])

    def opened(self) -> None:
        """Note that the step starts an epoch."""
        self._write(["opened"])

    def batch(self, batch: Batch) -> None:
        """Note a delivered batch."""
        self._write(["batch", batch])

    def ended(self) -> None:
        """Note that the epoch's end was seen."""
        self._write(["ended"])

    def state(self, name: str, codec: str, path: str) -> None:
        """Note that the encoding ``name`` lies in the file ``path``."""
        self._write(["state", name, codec, path])

    def event(self, event: Event) -> None:
        """Note the rest of the step's event; its batches are noted already."""
        fields = {name: value for name, value in vars(event).items() if name not in _NOTED}
        if event.fault is not None:
            fields["fault"] = vars(event.fault)
        self._write(["event", fields])

    def changed(self, when: str, changes: list[list[Any]]) -> None:
        """Note the held batches that have changed: number, before, now."""
        for change in changes:
            self._write(["changed", when, *change])

    def failed(self, fault: Fault) -> None:
        """Note that the session could not be opened."""
        self._write(["failed", vars(fault)])

    def killed(self) -> None:
        """Note that the process now kills itself because a step asks for it."""
        self._write(["killed"])

    def done(self, seconds: float) -> None:
        """Note the session's end."""
        self._write(["done", seconds])

    def close(self) -> None:
        """Close the descriptor."""
        if self._is_open():
            os.close(self.fd)

    def _write(self, line: list[Any]) -> None:
        if os.getpid() != self.pid:
            # This process was forked by the loader and left the loader's code: it is no player.
            os._exit(0)
        # The empty line ends anything that a loader may have written here by accident.
        data = memoryview(f"\n{_ENCODER.encode(line)}\n".encode())
        if not self._is_open():
            self._open()
        while data:
            data = data[os.write(self.fd, data) :]

    def _is_open(self) -> bool:
        with contextlib.suppress(OSError):
            status = os.fstat(self.fd)
            return (status.st_dev, status.st_ino) == self.key
        return False

    def _open(self) -> None:
        low = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.fd = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_REACH)
        os.close(low)
        status = os.fstat(self.fd)
        self.key = (status.st_dev, status.st_ino)


@dataclasses.dataclass
class JournalEnd:
    """How a journal ends."""

    done: bool = False
    """Whether the session reached its end."""
    killed: bool = False
    """Whether a step killed the session's process."""
    phase: str = "open"
    """The phase in which the session stopped; ``"closing"`` after all its steps."""
    pending: bool = False
    """Whether a step was cut short."""
    states: dict[str, tuple[str, str]] = dataclasses.field(default_factory=dict)
    """The saved encodings: codec and file by name."""


def read_journal(path: str) -> tuple[SessionTrace, JournalEnd]:
    """Read a journal, whole or cut short; lines of other form are skipped."""
    trace, end = SessionTrace([]), JournalEnd()
    for line in _lines(path):
        with contextlib.suppress(IndexError, KeyError, TypeError, ValueError):
            _apply(trace, end, line[0], line[1:])
    return trace, end


def _apply(trace: SessionTrace, end: JournalEnd, name: str, rest: list[Any]) -> None:
    if name == "at":
        end.phase = rest[0]
    elif name == "step":
        trace.events.append(Event(step=int(rest[0]), do=rest[1]))
        end.pending = True
    elif name == "opened":
        trace.events[-1].opened = True
    elif name == "batch":
        trace.events[-1].batches.append(rest[0])
    elif name == "ended":
        trace.events[-1].ended = True
    elif name == "state":
        end.states[rest[0]] = (rest[1], rest[2])
    elif name == "event":
        known = trace.events[-1]
        kept = {"batches": known.batches, "opened": known.opened, "ended": known.ended}
        trace.events[-1] = session_from_json({"events": [{**rest[0], **kept}]}).events[0]
        end.pending = False
    elif name == "changed":
        when, number, batch, now = rest
        trace.changed.append([when, int(number), batch, now])
    elif name == "failed":
        trace.fault = Fault(**{**rest[0], "bases": tuple(rest[0]["bases"])})
    elif name == "killed":
        end.killed = True
    elif name == "done":
        end.done, trace.seconds = True, float(rest[0])


def _lines(path: str) -> list[list[Any]]:
    found: list[list[Any]] = []
    try:
        with open(path, encoding="utf-8", errors="replace") as journal:
            # Half of the lines are empty, and an error for each would take long.
            for text in filter(str.strip, journal):
                with contextlib.suppress(ValueError):
                    line = json.loads(text)
                    if isinstance(line, list) and line:
                        found.append(line)
    except FileNotFoundError:
        pass
    return found


class FetchLog:
    """The samples that one session fetched, and the calls that it noted; read piece by piece."""

    def __init__(self, workload: Workload, execution: Execution, folder: str) -> None:
        self.path: str | None = None
        self.workload = workload
        self.offset = 0
        self._copies = max(1, execution.workers, execution.lanes or 0)
        self._last: set[int] = set()  # the last sample of each copy's share
        self._passes = 0  # of those that were begun, and whose last sample was not fetched
        if workload.log == "auto":
            self.path = os.path.join(folder, "log")
            self.workload = dataclasses.replace(workload, log=self.path)
            shares = (workload.share(copy, self._copies) for copy in range(self._copies))
            self._last = {share[-1] for share in shares if share}

    def counts(self) -> tuple[int | None, dict[str, int] | None]:
        """Return how many samples were fetched since the last time, and which calls were noted.

        The call ``again`` is an ``iter`` while each copy of the dataset is within a pass.
        """
        if self.path is None:
            return None, None
        found = {"fetch": 0, "state_dict": 0, "iter": 0}
        with contextlib.suppress(FileNotFoundError), open(self.path, "rb") as log:
            log.seek(self.offset)
            # Each line is written in one piece, so the file always ends with a whole line.
            lines = log.read().splitlines()
            self.offset = log.tell()
            for line in lines:
                what, *which = line.decode().split()[1:]
                found[what] = found.get(what, 0) + 1
                if what == "iter" and self._passes == self._copies:
                    found["again"] = found.get("again", 0) + 1
                elif what == "iter":
                    self._passes += 1
                elif what == "fetch" and int(which[0]) in self._last:
                    self._passes = max(0, self._passes - 1)
        return found.pop("fetch"), found
