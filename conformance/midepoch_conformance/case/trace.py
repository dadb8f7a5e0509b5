"""A trace: everything that came of a play, as data (pure; standard library only)."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["WRITTEN", "Batch", "Event", "Fault", "SessionTrace", "Trace"]

Batch = list[list[float]]
"""Rows ``[id, *draws]`` in delivered order."""

WRITTEN = -1
"""What is written into a batch in the place of each number: no sample has this id."""


@dataclasses.dataclass
class Fault:
    """An exception, or another way in which a step went wrong.

    Attributes:
        kind: ``raised``; ``hang`` (killed at the time limit); ``crash`` (the process died);
            ``codec`` (the state could not be encoded or decoded); ``adapter`` (raised by the
            adapter's own code: innermost frame in its file).
        type: the exception's class name, or the signal's or exit status.
        bases: names of the class and its bases, up to ``BaseException``.
        message: its text, at most 2,000 characters.
        traceback: the formatted traceback's last 4,000 characters.
        at: ``open``, ``load``, ``iter`` (before the first batch), ``next``, ``end``,
            ``state``, ``codec`` or ``close``.
    """

    kind: str
    type: str = ""
    bases: tuple[str, ...] = ()
    message: str = ""
    traceback: str = ""
    at: str = ""


@dataclasses.dataclass
class Event:
    """What one step did.

    Attributes:
        step: index of the step in its session.
        do: the step's action.
        batches: delivered by this step.
        ended: whether the epoch's end (StopIteration) was seen in this step.
        opened: whether this step started an epoch.
        fault: what went wrong, if anything did.
        size: bytes of the encoded state (``save`` and ``seal``).
        digest: hash of the encoded state.
        drew: whether the action moved one of the global streams (``save``, ``take``, ``drain``).
        fetched: samples fetched during the step, by the workload's log; None without one.
        calls: ``{"state_dict": n, "iter": n}`` during the step, by the log.
        left: processes of the loader that are alive after ``close``.
        held: ``{"processes": n, "threads": n, "descriptors": n}`` that the loader holds at a
            ``count``, beyond what was there before it was opened; None where that cannot be
            known.
        spent: whether the fault ended a generator of the adapter's own, so that nobody can tell
            what the loader itself would still deliver.
        document: the state as JSON types, where the loader implements a format; of
            ``load_cut`` the keys that lead to the part which was removed.
    """

    step: int
    do: str
    batches: list[Batch] = dataclasses.field(default_factory=list)
    ended: bool = False
    opened: bool = False
    fault: Fault | None = None
    size: int | None = None
    digest: str | None = None
    drew: bool | None = None
    fetched: int | None = None
    calls: dict[str, int] | None = None
    left: int | None = None
    held: dict[str, int] | None = None
    spent: bool = False
    document: Any = None


@dataclasses.dataclass
class SessionTrace:
    """One session: its events in order; ``fault`` where it could not even be opened.

    Attributes:
        events: what its steps did.
        fault: why it could not be opened.
        seconds: how long it took.
        changed: ``[when, number, batch, now]`` of each held batch that was not the same when it
            was read again: its number in the session, what was read of it before and now.
    """

    events: list[Event]
    fault: Fault | None = None
    seconds: float = 0.0
    changed: list[list[Any]] = dataclasses.field(default_factory=list)

    def first_fault(self) -> Fault | None:
        """Return the first thing that went wrong in this session, if any did."""
        if self.fault is not None:
            return self.fault
        return next((e.fault for e in self.events if e.fault is not None), None)


@dataclasses.dataclass
class Trace:
    """All sessions of a case, in order; shorter than the case where one ended the play."""

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
