"""A case is data: a workload, and sessions with their steps (pure; standard library only).

Cases are stored as canonical JSON, one on each line, and reach the host in that form. A case's
name is the hash of its content.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.workload import Workload

__all__ = [
    "ACTIONS", "CAUGHT", "HISTORIES", "HISTORY", "OF_CUT_RANKS", "OF_DEALT_RANKS", "OF_RANKS",
    "OF_STAGES", "PROGRAM", "Case", "CaseError", "SessionPlan", "Step", "has_workers",
]  # fmt: skip

HISTORY = "history"
"""The family of histories: its cases combine what the cases of single families do alone."""

OF_RANKS, OF_DEALT_RANKS = "history of ranks", "history of dealt ranks"
"""The families of histories whose number of ranks changes; see ``case/stages.py``."""

OF_CUT_RANKS = "history of ranks cut anew"
"""The family of histories whose global batch size changes, too."""

OF_STAGES = (OF_RANKS, OF_DEALT_RANKS, OF_CUT_RANKS)
"""All families of histories whose number of ranks changes."""

PROGRAM = "program"
"""The family of programs that are cut into pieces; see ``case/programs.py``."""

HISTORIES = (HISTORY, *OF_STAGES, PROGRAM)
"""The families of which a profile draws cases, beside those of its table."""

CAUGHT = ("caught", "caught again", "caught and healed", "caught in collate", "size")
"""The families whose uninterrupted run fails and continues, if a sample of theirs raises."""

ACTIONS = {
    "take": "deliver n batches of the epoch (starting one if none is open); n = -1: all that are "
    "left, without asking for the end",
    "drain": "deliver the rest of the epoch and see its end; with n = 1, ask for more after that",
    "break": "drop the open epoch",
    "save": "take a state, keep the object under `state`, encode it with `codec` at once",
    "seal": "encode the object kept under `state` again, as it is now, under `into`",
    "edit": "change the object kept under `state` in place, every part below its first n levels",
    "recode": "decode the encoding `state` and encode it again with `codec` under `into`",
    "load": "decode the encoding `state` and load it; the decoded object is kept under `state`",
    "load_merged": "decode the encodings `state`, whose names stand between slashes, let the "
    "adapter make one state of them, which it gets the last one first, and load that",
    "load_bogus": "load a value that is no state: `value` names it (none, empty, list, text, "
    "number, foreign)",
    "load_cut": "load the encoding `state` less its part number n (depth first over mappings; "
    "n = -1: the last one; from 1000 on, over the items of lists)",
    "load_document": "load the state whose canonical JSON is `document`; `value` names it",
    "name_epoch": "tell the loader that epoch n comes next",
    "overwrite": "change every number of the batches delivered so far, in place",
    "close": "close the session and count its remaining processes",
    "open": "open the session again, in the same process, after `close`",
    "count": "note how many processes, threads and descriptors the loader holds",
    "beside": "deliver n batches of another loader on the same data, in this process; it lives on "
    "beside the first one",
    "lose": "kill the worker that the loader has had longest, wherever it is",
    "kill": "kill the session's process here, and its workers with it; saved states stay",
}
"""All actions with their meaning."""


class CaseError(ValueError):
    """A stored case cannot be read."""


@dataclasses.dataclass(frozen=True)
class Step:
    """One action of a session; see :data:`ACTIONS`.

    With ``tolerate`` the session continues after an action that raises; otherwise it ends there.
    """

    do: str
    n: int = 0
    state: str = ""
    into: str = ""
    codec: str = ""
    value: str = ""
    document: str = ""
    tolerate: bool = False

    def __post_init__(self) -> None:
        if self.do not in ACTIONS:
            raise CaseError(f"unknown step {self.do!r}; a step is one of {', '.join(ACTIONS)}")


@dataclasses.dataclass(frozen=True)
class SessionPlan:
    """One session: its execution, its surroundings and its steps."""

    execution: Execution
    """How the loader is executed."""
    steps: tuple[Step, ...]
    """The steps in their order."""
    ambient: int = 1
    """The seed of the three global random streams before the loader is built."""
    host: str = "a"
    """``"a"`` or ``"b"``: two interpreters with different hash seeds."""
    workload: tuple[tuple[str, Any], ...] = ()
    """The fields of the workload that differ in this session (a changed plan)."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A workload and the sessions that are played on it.

    ``probe`` is the name of the case's family. It selects the judges of the trace, so one cause
    gives one failed requirement.
    """

    probe: str
    workload: Workload
    sessions: tuple[SessionPlan, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the case as JSON types; defaults are left out."""
        return {
            "probe": self.probe,
            "workload": _changed(self.workload, Workload()),
            "sessions": [
                {
                    **_changed(s, SessionPlan(Execution(), ()), ("execution", "steps")),
                    "execution": _changed(s.execution, Execution()),
                    "steps": [_changed(t, Step("close"), always=("do",)) for t in s.steps],
                }
                for s in self.sessions
            ],
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Case:
        """Read what :meth:`to_json` wrote.

        Raises:
            CaseError: a field is missing, unknown or of the wrong form.
        """
        try:
            workload = dict(data["workload"])
            if "draws" in workload:
                workload["draws"] = tuple(workload["draws"])
            sessions = tuple(
                SessionPlan(
                    execution=Execution(**s["execution"]),
                    steps=tuple(Step(**t) for t in s["steps"]),
                    ambient=s.get("ambient", 1),
                    host=s.get("host", "a"),
                    workload=tuple((k, _tuple(v)) for k, v in s.get("workload", [])),
                )
                for s in data["sessions"]
            )
            return Case(data["probe"], Workload(**workload), sessions)
        except (KeyError, TypeError) as error:
            raise CaseError(f"not a case: {error}; got {data!r}") from error

    @functools.cached_property
    def id(self) -> str:
        """Return the case's name: the first 12 hex digits of its content's SHA-256."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def session_workload(self, index: int) -> Workload:
        """Return the workload as session ``index`` sees it."""
        changes = dict(self.sessions[index].workload)
        return dataclasses.replace(self.workload, **changes) if changes else self.workload


def _changed(
    value: Any, default: Any, skip: tuple[str, ...] = (), always: tuple[str, ...] = ()
) -> dict[str, Any]:
    names = [f.name for f in dataclasses.fields(value) if f.name not in skip]
    return {
        name: _plain(getattr(value, name))
        for name in names
        if name in always or getattr(value, name) != getattr(default, name)
    }


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def has_workers(case: Case) -> bool:
    """Return whether any session of a case has workers."""
    return any(plan.execution.workers for plan in case.sessions)
