"""Document: states of the format that others wrote: published ones, and those to be refused."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from midepoch_conformance.case.case import Step
from midepoch_conformance.case.trace import Batch, Event, Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import show
from midepoch_conformance.verdict.finding import Finding, fault_kind, in_words, is_refusal
from midepoch_conformance.verdict.format.published import Vector, resume, vector

__all__ = ["given"]

FIELDS = {
    "batch_size": "batch_size",
    "data": "data",
    "n": "length",
    "shuffle": "sampler",
    "seed": "seed",
    "tail": "tail",
}
"""The plan's fields, by the workload's."""

RAISED = "OSError"
"""The error of the published datasets that raise in place of some samples."""


@judge("DOC-7", "unknown field", alone=True)
def unknown_fields(view: View) -> Finding | None:
    """Unknown fields are refused."""
    return _rejected(view)


@judge("DOC-8", "other version", alone=True)
def other_formats(view: View) -> Finding | None:
    """A state of another format is refused as malformed."""
    return _rejected(view, alone=True)


@judge("DOC-9", "invalid state", "published mismatch", alone=True)
def invalid_states(view: View) -> Finding | None:
    """Each published invalid state is refused by the published error type."""
    return _mismatch(view) if view.case.probe == "published mismatch" else _rejected(view)


@judge("DOC-11", "published resume", alone=True)
def published_resumes(view: View) -> Finding | None:
    """Each published resume is continued as published."""
    published = given(view)
    if published is None or published.requirement == "DOC-16":
        return None
    return _continued(view, published)


@judge("DOC-12", "document plan", "document plan unnamed", "invalid state", alone=True)
def names_every_field(view: View) -> Finding | None:
    """A state of another plan is refused by an error that names each differing field."""
    if view.case.probe == "invalid state":
        return _published_plans(view)
    saved, here = view.case.workload, view.case.session_workload(1)
    names = [name for name, _ in view.case.sessions[1].workload]
    pairs = {name: (_value(saved, name), _value(here, name)) for name in names}
    other = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if not other:
        return None  # drawn alike: the plan is the same
    early = view.before(1)
    if early is not None:
        return early
    fault = next((e.fault for e in view.events(1) if e.fault is not None), None)
    if fault is None:
        got = [batch for e in view.events(1) for batch in e.batches]
        return view.silent(
            "different", f"it is not refused: {show(got[:1])} comes", "a refusal", got
        )
    if "PlanMismatchError" not in (fault.type, *fault.bases):
        return view.fails("refusal", f"not by a PlanMismatchError: {in_words(fault)}")
    unnamed = _unnamed({FIELDS[name]: pair for name, pair in other.items()}, fault.message)
    if unnamed:
        return view.fails("refusal", f"{unnamed}: {in_words(fault)}")
    return view.passed()


def _published_plans(view: View) -> Finding | None:
    """Judge the refusals of the published states of other plans; their error types are DOC-9's."""
    seen = False
    for event in view.events(0, "load_document"):
        wanted = vector("invalid", _step(view, event).value)
        if wanted.error != "PlanMismatchError" or event.fault is None:
            continue
        seen = True
        unnamed = _unnamed(wanted.differences, event.fault.message)
        if unnamed:
            words = f"{wanted.name} ({wanted.data['fault']}): {unnamed}: {in_words(event.fault)}"
            return view.fails("refusal", words, wanted.data["fields"], event.fault.message)
    return view.passed() if seen else None


def _unnamed(fields: Mapping[str, tuple[str, ...]], message: str) -> str:
    """Return what an error leaves out: a differing field, or one of its values beside its name."""
    pieces = re.split(rf"(?<![\w-])({'|'.join(fields)})(?!\w)", message)
    # Each name, and the text around it, up to the names of differing fields.
    parts = list(zip(pieces[1::2], pieces[0::2], pieces[2::2], strict=False))
    for name, values in fields.items():
        said = " ".join(f"{before} {after}" for field, before, after in parts if field == name)
        if not any(field == name for field, _, _ in parts):
            return f"the error does not name {name}"
        missing = [v for v in values if not _says(said, v)]
        if missing:
            return f"the error does not name {', '.join(missing)} of {name}"
    return ""


@judge("DOC-16", "published resume", alone=True)
def extension_fields(view: View) -> Finding | None:
    """Fields with ``x-`` are ignored, and not written again."""
    published = given(view)
    if published is None or published.requirement != "DOC-16":
        return None
    kept = [k for e in view.saves(0) for k in e.document if str(k).startswith("x-")]
    if kept:
        return view.fails("invalid", f"written again: {', '.join(kept)}", [], kept)
    return _continued(view, published)


@judge("DOC-17", "other version", alone=True)
def other_versions(view: View) -> Finding | None:
    """A state of another version is refused as of another version."""
    return _rejected(view, alone=True)


def _says(text: str, value: str) -> bool:
    """Return whether a text has a value as a word or a number of its own."""
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?!\w|\.\d)", text) is not None


def _value(w: Workload, name: str) -> str:
    if name == "shuffle":
        return "shuffle" if w.shuffle else "sequential"
    return str(getattr(w, name))


def _step(view: View, event: Event) -> Step:
    return view.case.sessions[0].steps[event.step]


def _rejected(view: View, *, alone: bool = False) -> Finding | None:
    """Judge the loads of invalid states: each by the error type that its vector names.

    ``alone``: only the vectors of the judge's own requirement are looked at.
    """
    session = view.session(0)
    if session is not None and session.fault is not None:
        return view.blocked(f"the loader cannot be built: {in_words(session.fault)}")
    for event in view.events(0, "load_document"):
        wanted = vector("invalid", _step(view, event).value)
        if alone and wanted.requirement != view.requirement:
            continue
        problem = _not_so(event.fault, wanted.error)
        if problem:
            words = f"{wanted.name} ({wanted.data['fault']}): {problem}"
            if event.fault is None:
                return view.silent("invalid", words, wanted.error, None)
            return view.fails("refusal", words, wanted.error, event.fault.type)
    return view.passed()


def _not_so(fault: Fault | None, error: str) -> str:
    if fault is None:
        return "it is loaded without an error"
    if error not in (fault.type, *fault.bases):
        return f"not refused by a {error}: {in_words(fault)}"
    if fault.at not in ("load", "codec"):
        return f"refused late: {in_words(fault)}"
    return ""


def _mismatch(view: View) -> Finding | None:
    """Judge a published state that fits the plan and not the data: refused before any batch."""
    session = view.session(0)
    if session is None or session.fault is not None:
        return view.blocked("the loader cannot be built")
    wanted = vector("mismatches", view.case.sessions[0].steps[0].value)
    words = f"{wanted.name} ({wanted.data['description']})"
    fault = session.first_fault()
    if fault is None:
        got = [batch for event in view.events(0) for batch in event.batches]
        return view.silent("invalid", f"{words}: {show(got[:1])} comes", wanted.error, got)
    if wanted.error not in (fault.type, *fault.bases):
        return view.fails("refusal", f"{words}: not refused by a {wanted.error}: {in_words(fault)}")
    return view.passed()


def given(view: View) -> Vector | None:
    """Return the published resume that a case loads; None for the cases of other families."""
    step = next((s for s in view.case.sessions[0].steps if s.do == "load_document"), None)
    return None if step is None else resume(step.value)


def _continued(view: View, published: Vector) -> Finding:
    """Judge the epochs after a published state, empty ones included."""
    session = view.session(0)
    faults = [session.fault] if session else []
    got: list[list[Batch | None]] = [[]]
    for event in view.events(0):
        got[-1] += event.batches
        if event.ended:
            got.append([])
        elif event.fault and _raised(event.fault) and _step(view, event).tolerate:
            got[-1].append(None)
        else:
            faults.append(event.fault)
    fault = next((fault for fault in faults if fault is not None), None)
    if fault is not None:
        # A refusal is a failure here: the loader must continue a published state.
        delivered = sum(map(len, got))
        refusal = is_refusal(fault, delivered)
        kind = "refusal" if refusal else fault_kind(fault, delivered)
        return view.fails(kind, f"{published.name}: {in_words(fault, delivered)}")
    for number, (expected, came) in enumerate(zip(published.epochs, got, strict=False)):
        if expected != came:
            at = next(
                (i for i, (a, b) in enumerate(zip(expected, came, strict=False)) if a != b),
                min(len(expected), len(came)),
            )
            words = (
                f"{published.name}, epoch {number} after the load, batch {at}: expected "
                f"{_batch(expected, at)}, got {_batch(came, at)}"
            )
            return view.silent("different", words, expected, came)
    return view.passed()


def _raised(fault: Fault) -> bool:
    """Return whether a fault is the error of a published dataset."""
    return RAISED in (fault.type, *fault.bases)


def _batch(epoch: Sequence[Batch | None], at: int) -> str:
    """Return a batch in words; an epoch has None in place of one that raised."""
    found = epoch[at : at + 1]
    return "an error" if found == [None] else show([b for b in found if b is not None])
