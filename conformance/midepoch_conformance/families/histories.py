"""The family of histories: each plot combines actions that single families play alone (pure).

The stateful machine (``search/machine.py``) draws histories without end; every check plays these.
"""

from __future__ import annotations

import contextlib
from functools import partial

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import (
    HISTORY,
    OF_CUT_RANKS,
    OF_DEALT_RANKS,
    OF_RANKS,
    PROGRAM,
    Case,
    CaseError,
)
from midepoch_conformance.case.history import objection
from midepoch_conformance.case.notation import parse_sessions
from midepoch_conformance.case.programs import Piece, programmed
from midepoch_conformance.case.stages import Stage, staged
from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families.family import ITERABLES, LANED, Cell, family

__all__ = ["CHECKED", "CUT_ANEW", "OF_STAGES", "PLOTS", "PROGRAMS", "UNTOLD", "WITH_WORKERS"]

PLOTS = {
    "break after a resume": (
        "take 2, save a | load a, take 1, break, take 1, save b | load b, drain, drain"
    ),
    "one loader, many loads": (
        "take 2, save a, drain, take 1, save b | "
        "load a, take 1, break, load b, take 2, break, load a, drain, drain"
    ),
    "saved at ends": (
        "take all, save a | load a, save b, drain, drain, save c | "
        "load c, take 1, save d | load d, drain, drain"
    ),
    "killed twice": (
        "drain, take 2, save a, take 1, kill | "
        "load a, take 2, save b, take 1, kill | load b, drain, drain"
    ),
    "held and edited": (
        "take 1, save a, edit a, take 1, save b, take 1, break, take 1, seal b c | "
        "load c, edit c, take 1, save d | load d, drain, drain"
    ),
    "one process": (
        "take 2, save a, close, open, load a, take 2, save b, close, open, "
        "drain, take 1, break, load b, drain, drain"
    ),
    "nothing loaded": (
        "load_bogus none?, take 1, save a, load_bogus none?, take 1, save b | "
        "load b, load_bogus none?, take 1, break, take 1, load_bogus none?, drain, drain"
    ),
    "rolled back": (
        "take 3, save a, take 2, save b | "
        "load b, take 1, load a, break, take 2, save c, drain, save d | "
        "load c, drain, load d, drain, drain"
    ),
    "looked at": (
        "take 0, break, take 2, save a | load a, take 0, break, save b, take 1, save c, kill | "
        "load b, take 0, break, drain, drain"
    ),
    "caught": (
        "drain?, save a, drain?, drain? | load a, drain?, drain?, save b | "
        "load b, drain?, drain?, drain?, drain?"
    ),
    "caught in the rest": (
        "take 1?, save a | load a, drain?, take 1?, save b | "
        "load b, drain?, drain?, save c | load c, drain?, drain?"
    ),
    "another loader": (
        "beside 1, take 2, beside 2, save a, beside 2, take 1 | "
        "beside 2, load a, take 1, beside 3, save b, drain | beside 1, load b, drain, drain"
    ),
    "asked again": "drain 1, take 1, save a | load a, drain 1, save b | load b, drain 1, drain",
    "interrupted at once": (
        "take 2, save a | load a, take 1, save b | "
        "[interrupt_at=6 log=auto] load b, drain?, save c, drain? | load c, drain, drain"
    ),
    "interrupted later": (
        "drain, take 1, save a | load a, take 1, save b | "
        "[interrupt_at=8 log=auto] load b, drain?, take 1?, save c, drain? | load c, drain, drain"
    ),
    "an error after two resumes": (
        "take 1, save a | load a, take 1, save b | "
        "[fail_at=8] load b, save c, drain?, load c, break, drain? | load c, drain, drain"
    ),
    "StopIteration after two resumes": (
        "take 1, save a | load a, take 1, save b | "
        "[stop_at=4] load b, drain?, load b | load b, take 1, save c | load c, drain, drain"
    ),
    "other workers": (
        "take 2, save a | [workers=0] load a, take 1, save b, take 1 | "
        "[workers=3] load b, drain, take 2, save c | [workers=1] load c, drain, drain"
    ),
    "a lost worker": (
        "take 1, save a | [die_at=8] load a, drain? | load a, take 1, save b | load b, drain, drain"
    ),
}
"""The sessions of each plot."""

WITH_WORKERS = (
    "break after a resume", "rolled back", "another loader", "other workers", "a lost worker",
)  # fmt: skip
"""The plots that are played with workers; the last two with nothing else."""

CAUGHT = ("caught", "caught in the rest")
"""The plots in which the caller catches a sample's exception."""


@family(
    HISTORY,
    bites=(
        "a late epoch of a resumed resume",
        "loaded after a broken epoch",
        "a fault after a resume",
        "an interrupt",
        "a lost worker",
        "a killed process",
        "a full window",
    ),
    section="histories",
    shape=((13, 2),),
    plot=tuple(PLOTS),
    tail=("keep",),
)
def _history(c: Cell) -> Case | None:
    alone = c.plot in WITH_WORKERS[-2:]
    if (c.plot not in WITH_WORKERS) if c.workers else alone:
        return None
    if c.kind == "map" and not c.shuffle:
        return None  # if all epochs were equal, one in the place of another would not show
    if c.plot in CAUGHT and c.kind != "map":
        return None
    if "stop_at" in PLOTS[c.plot] and c.kind in ITERABLES:
        return None  # a stream ends so
    case = c.play(PLOTS[c.plot], c.workload(6, fail_at=6 if c.plot in CAUGHT else None))
    return case if objection(case) is None else None


PROGRAMS = {
    "left twice": "take 2 | take 1, break, take 2 | take 1, break, take 1 | drain, drain, drain",
    "left after an end": "drain, take 2, break, take 1 | drain, take 1 | take 1, break, drain",
    "left at once": "take 1, break, take 1, break, take 1 | take 1, break, take 1 | drain, drain",
    "untold at the end": "drain | take 2 | drain, drain",
    "untold within": "take 2 | take 2 | drain, drain",
    "untold and checked": "take 5 | take 1 | drain, drain",
    "left and looked at": "take 5 | take 1, break, take 0 | take 1, drain",
}
"""The pieces of each program, cut where a state is saved and loaded."""

UNTOLD = {"untold at the end": 14, "untold within": 5, "untold and checked": 9}
"""The plots in which the dataset cannot tell its state in some of 13 rows: ``Workload.unsaved``."""

CHECKED = {"untold and checked": 2, "left and looked at": 3}
"""The plots in which what a resume makes again is checked, and their snapshot intervals."""


@family(
    PROGRAM,
    bites=("saved after a broken epoch",),
    section="users",
    quick=("inline",),
    kind=KINDS[::-1],  # an end that is untold shows most where a map-style dataset remembers
    shape=((13, 2),),
    plot=tuple(PROGRAMS),
    tail=("keep",),
)
def _program(c: Cell) -> Case | None:
    if c.workers and c.plot != "left twice":
        return None
    if c.plot in UNTOLD and not c.kind.startswith("stateful"):
        return None
    if c.plot in CHECKED and c.kind not in ITERABLES:
        return None  # only a stream makes samples again
    x = c.execution(interval=CHECKED.get(c.plot, 1))
    pieces = [Piece(plan.execution, plan.steps) for plan in parse_sessions(PROGRAMS[c.plot], x)]
    w = c.workload(unsaved=UNTOLD.get(c.plot, 0), checked=c.plot in CHECKED)
    return programmed(w, x, pieces)


OF_STAGES = {
    "there and back": "[world=2] take 1, save | [world=4] take 1, save | [world=2] drain, drain",
    "fewer and fewer": (
        "[world=4] take 1, save | [world=2] take 1, save | [world=1] take 1, save | "
        "[world=2] drain, drain"
    ),
    "in a later epoch": (
        "[world=2] drain, take 1, save | [world=1] take 2, save, take 1 | [world=4] drain, drain"
    ),
    "saved at once": (
        "[world=1] take 1, save | [world=4] save | [world=2] save, take 1 | "
        "[world=4] take 1, save, take 1 | [world=2] drain, drain"
    ),
}
"""The stages of each plot: numbers of ranks, and the steps that each rank takes after a load."""

_of_stages = partial(
    family, workers=(False,), section="stages", needs=("samples",), plot=tuple(OF_STAGES)
)


@_of_stages(
    OF_RANKS,
    bites=("another number of ranks", "an older state", "several epochs"),
    shape=((26, 4), (24, 4)),
    kind=("map",),
)
def _of_ranks(c: Cell) -> Case | None:
    return _staged(c, "shared", Execution())


@_of_stages(
    OF_DEALT_RANKS,
    bites=("another number of ranks", "off the interval", "a replay from the beginning"),
    shape=((35, 2), (32, 2)),
    kind=LANED,
    tail=("keep",),
)
def _of_dealt_ranks(c: Cell) -> Case | None:
    """Map-style lanes replay from snapshots that several ranks took at other batches."""
    interval = 2 if c.kind == "stateful_map" else 1
    return _staged(c, "dealt", Execution(lanes=4, interval=interval))


CUT_ANEW = {
    "larger and larger": (
        "[world=2] take 1, save | [world=3 batch_size=6] take 1, save | "
        "[world=4 batch_size=8] drain, drain"
    ),
    "smaller and back": (
        "[world=4] take 2, save, take 1 | [world=3 batch_size=3] take 1, save | "
        "[world=2] drain, take 1, save | [world=3 batch_size=6] drain, drain"
    ),
    "carried over": (
        "[world=2] take 2, save | [world=3 batch_size=6] drain, take 1, save | "
        "[world=2 batch_size=10] drain, drain"
    ),
    "less than a batch left": (
        "[world=2] take 5, save | [world=2 batch_size=2] take 1, save | "
        "[world=4 batch_size=12] drain, drain"
    ),
}
"""The same where the global batch size changes, too."""

_CUT_TAILS = {"smaller and back": "keep", "carried over": "rollover"}


@family(
    OF_CUT_RANKS,
    (False,),
    bites=("another number of ranks", "a carried rest", "an older state"),
    section="recuts",
    needs=("samples", "format"),
    plot=tuple(CUT_ANEW),
    shape=((26, 4), (24, 4)),
    kind=("map",),
)
def _of_cut_ranks(c: Cell) -> Case | None:
    tail = _CUT_TAILS.get(c.plot, "drop")
    return _staged(Cell(c.family, {**c.values, "tail": tail}), "cut anew", Execution())


def _staged(c: Cell, ranks: str, x: Execution) -> Case | None:
    plans = parse_sessions((OF_STAGES | CUT_ANEW)[c.plot], x)
    sizes = [dict(plan.workload).get("batch_size", 0) for plan in plans]
    stages = [Stage(p.execution, p.steps, size) for p, size in zip(plans, sizes, strict=True)]
    with contextlib.suppress(CaseError):  # the samples are too few
        return staged(c.family, c.workload(ranks=ranks), stages)
    return None
