"""A trace: everything that a play did, as data (pure; standard library only)."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["WRITTEN", "Batch", "Event", "Fault", "SessionTrace", "Trace"]

Batch = list[list[float]]
"""Rows ``[id, *draws]`` in delivered order."""

WRITTEN = -1
"""The number that ``overwrite`` writes in place of each number; no sample has this id."""


@dataclasses.dataclass
class Fault:
    """An exception, or another way in which a step went wrong."""

    kind: str
    """``raised``; ``hang`` (killed at the time limit); ``crash`` (the process died); ``codec`` (the
    state could not be encoded or decoded); ``adapter`` (raised by the adapter's own code: the
    innermost frame lies in its file)."""
    type: str = ""
    """The name of the exception's class or of the signal, or the exit status."""
    bases: tuple[str, ...] = ()
    """The names of the class and its bases, up to ``BaseException``."""
    message: str = ""
    """The exception's text, at most 2,000 characters."""
    traceback: str = ""
    """The formatted traceback's last 4,000 characters."""
    at: str = ""
    """``open``, ``load``, ``iter`` (before the first batch), ``next``, ``end``, ``state``,
    ``codec`` or ``close``."""


@dataclasses.dataclass
class Event:
    """The effects of one step."""

    step: int
    """The step's index in its session."""
    do: str
    """The step's action."""
    batches: list[Batch] = dataclasses.field(default_factory=list)
    """The batches that this step delivered."""
    ended: bool = False
    """Whether this step saw the epoch's end (StopIteration)."""
    opened: bool = False
    """Whether this step started an epoch."""
    fault: Fault | None = None
    """The step's fault, if there was one."""
    size: int | None = None
    """The bytes of the encoded state (``save`` and ``seal``)."""
    digest: str | None = None
    """The hash of the encoded state."""
    drew: bool | None = None
    """Whether the action moved one of the global streams (``save``, ``take``, ``drain``)."""
    fetched: int | None = None
    """The samples that were fetched during the step, by the workload's log; None without a log."""
    calls: dict[str, int] | None = None
    """The calls during the step, by the log: ``{"state_dict": n, "iter": n}``."""
    left: int | None = None
    """The number of the loader's processes that are alive after ``close``."""
    held: dict[str, int] | None = None
    """The loader's holdings at a ``count``, without those from before it was opened, as
    ``{"processes": n, "threads": n, "descriptors": n}``; None if the system does not tell."""
    altered: str | None = None
    """How the state that is kept differs: at a ``load``, from its value before the load; at a
    ``seal``, from its value when it was saved or loaded. None: it does not differ."""
    spent: bool = False
    """Whether the fault ended a generator of the adapter. The loader's next batches are then
    unknown."""
    seconds: float | None = dataclasses.field(default=None, compare=False)
    """The session's age when the step ended: it began before the loader was built."""
    document: Any = None
    """The state as JSON types, if the loader implements the format; for ``load_cut`` the keys that
    lead to the removed part; for ``load_bogus`` a text if the value may be one of its states."""


@dataclasses.dataclass
class SessionTrace:
    """One session: its events in order, or the fault that kept it from being opened."""

    events: list[Event]
    """The events of its steps."""
    fault: Fault | None = None
    """The fault, if the session could not be opened."""
    seconds: float = 0.0
    """The session's duration."""
    changed: list[list[Any]] = dataclasses.field(default_factory=list)
    """The held batches that had changed when they were read again, each as ``[when, number, batch,
    now]``: its number in the session, its rows before and now."""

    @property
    def delivered(self) -> int:
        """The number of batches that the session delivered."""
        return sum(len(event.batches) for event in self.events)

    def first_fault(self) -> Fault | None:
        """Return the session's first fault, or None if it had no fault."""
        if self.fault is not None:
            return self.fault
        return next((e.fault for e in self.events if e.fault is not None), None)


@dataclasses.dataclass
class Trace:
    """All sessions of a case, in order; fewer than the case has if one ended the play."""

    case: str
    sessions: list[SessionTrace]

    def to_json(self) -> dict[str, Any]:
        """Return the trace as JSON types."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Trace:
        """Read what :meth:`to_json` wrote."""
        return Trace(data["case"], [session_from_json(s) for s in data["sessions"]])


def session_from_json(data: dict[str, Any]) -> SessionTrace:
    """Read one session of a trace, as the host sends it."""
    events = [Event(**{**e, "fault": _fault(e.get("fault"))}) for e in data["events"]]
    seconds, changed = data.get("seconds", 0.0), data.get("changed", [])
    return SessionTrace(events, _fault(data.get("fault")), seconds, changed)


def _fault(data: dict[str, Any] | None) -> Fault | None:
    return None if data is None else Fault(**{**data, "bases": tuple(data.get("bases", ()))})
