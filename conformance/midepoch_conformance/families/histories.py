"""The family of histories: each plot combines actions that single families play alone (pure).

The stateful machine (``search/machine.py``) draws histories without end; every check plays these.
"""

from __future__ import annotations

from typing import Any

from midepoch_conformance.case.case import HISTORY, Case, Step
from midepoch_conformance.case.history import objection
from midepoch_conformance.families.family import (
    Cell,
    family,
    load,
    save,
    take,
)
from midepoch_conformance.families.family import (
    drain_steps as drains,
)

__all__ = ["PLOTS", "WITH_WORKERS"]

_BREAK, _CLOSE, _OPEN, _KILL = Step("break"), Step("close"), Step("open"), Step("kill")
_NOTHING = Step("load_bogus", value="none", tolerate=True)
_ON = Step("drain", tolerate=True)

Sessions = tuple[tuple[Step, ...], ...]

PLOTS: dict[str, Sessions] = {
    "break after a resume": (
        (take(2), save("a")),
        (load("a"), take(1), _BREAK, take(1), save("b")),
        (load("b"), *drains(2)),
    ),
    "one loader, many loads": (
        (take(2), save("a"), Step("drain"), take(1), save("b")),
        (load("a"), take(1), _BREAK, load("b"), take(2), _BREAK, load("a"), *drains(2)),
    ),
    "saved at ends": (
        (take(-1), save("a")),
        (load("a"), save("b"), *drains(2), save("c")),
        (load("c"), take(1), save("d")),
        (load("d"), *drains(2)),
    ),
    "killed twice": (
        (Step("drain"), take(2), save("a"), take(1), _KILL),
        (load("a"), take(2), save("b"), take(1), _KILL),
        (load("b"), *drains(2)),
    ),
    "held and edited": (
        (take(1), save("a"), Step("edit", state="a"), take(1), save("b"), take(1), _BREAK, take(1),
         Step("seal", state="b", into="c")),
        (load("c"), Step("edit", state="c"), take(1), save("d")),
        (load("d"), *drains(2)),
    ),
    "one process": (
        (take(2), save("a"), _CLOSE, _OPEN, load("a"), take(2), save("b"), _CLOSE, _OPEN,
         Step("drain"), take(1), _BREAK, load("b"), *drains(2)),
    ),
    "nothing loaded": (
        (_NOTHING, take(1), save("a"), _NOTHING, take(1), save("b")),
        (load("b"), _NOTHING, take(1), _BREAK, take(1), _NOTHING, *drains(2)),
    ),
    "rolled back": (
        (take(3), save("a"), take(2), save("b")),
        (load("b"), take(1), load("a"), _BREAK, take(2), save("c"), Step("drain"), save("d")),
        (load("c"), Step("drain"), load("d"), *drains(2)),
    ),
    "looked at": (
        (take(0), _BREAK, take(2), save("a")),
        (load("a"), take(0), _BREAK, save("b"), take(1), save("c"), _KILL),
        (load("b"), take(0), _BREAK, *drains(2)),
    ),
    "caught": (
        (_ON, save("a"), _ON, _ON),
        (load("a"), _ON, _ON, save("b")),
        (load("b"), *(_ON,) * 4),
    ),
    "other workers": (
        (take(2), save("a")),
        (load("a"), take(1), save("b"), take(1)),
        (load("b"), Step("drain"), take(2), save("c")),
        (load("c"), *drains(2)),
    ),
    "a lost worker": (
        (take(1), save("a")),
        (load("a"), _ON),
        (load("a"), take(1), save("b")),
        (load("b"), *drains(2)),
    ),
}  # fmt: skip
"""The steps of each plot, session by session."""

WITH_WORKERS = ("break after a resume", "rolled back", "other workers", "a lost worker")
"""The plots that are played with workers; the last two with nothing else."""

_COUNTS = (None, 0, 3, 1)
"""The sessions' worker counts in "other workers", the first being the cell's."""


@family(HISTORY, section="histories", shape=((13, 2),), plot=tuple(PLOTS), tail=("keep",))
def _history(c: Cell) -> Case | None:
    alone = c.plot in WITH_WORKERS[2:]
    if (c.plot not in WITH_WORKERS) if c.workers else alone:
        return None
    if c.kind in ("map", "files") and not c.shuffle:
        return None  # if all epochs were equal, one in the place of another would not show
    plans = [
        c.session(number, *steps, **_changes(c.plot, number))
        for number, steps in enumerate(PLOTS[c.plot])
    ]
    more: dict[str, Any] = {"fail_at": 6} if c.plot == "caught" else {}
    if more and c.kind != "map":
        return None
    case = c.case(c.workload(6, **more), *plans)
    return case if objection(case) is None else None


def _changes(plot: str, number: int) -> dict[str, Any]:
    """Return the changes of a session against the first."""
    if plot == "other workers" and number:
        return {"workers": _COUNTS[number]}
    return {"workload": (("die_at", 8),)} if plot == "a lost worker" and number == 1 else {}
