"""Document: the state document of midepoch's own format, and documents that must be refused."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from midepoch_conformance.case.case import Step
from midepoch_conformance.case.data.trees import NOT_CANONICAL
from midepoch_conformance.case.trace import Batch, Event, Fault
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import show
from midepoch_conformance.verdict.document import at_any_snapshot, canonical, layout, untyped
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding, fault_kind, in_words, is_refusal
from midepoch_conformance.verdict.published import resume, schema, vector

__all__: list[str] = []

FIELDS = {
    "batch_size": "batch_size",
    "n": "length",
    "shuffle": "sampler",
    "seed": "seed",
    "tail": "tail",
}
"""The plan's fields, by the workload's."""

PLAN = (
    "dataset", "length", "sampler_name", "sampler", "seed", "batch_size", "tail", "lanes",
    "lifetime", "data", "options",
)  # fmt: skip
"""All fields of the plan."""

RAISED = "OSError"
"""The error of the published datasets that raise in place of some samples."""

STATES = ("document", "rollover", "work later", "work chain", "unordered", "history")
"""The families whose states show all parts of a document: lanes, samplers, carried, ahead."""


@judge("DOC-1", *STATES)
def valid(view: View) -> Finding | None:
    """Each state is valid against the schema."""
    for event in _every(view):
        error = next(_validator().iter_errors(event.document), None)
        if error is not None:
            path = "/".join(map(str, error.instance_path)) or "the document"
            return view.fails("invalid", f"{path}: {error.message}"[:300], None, event.document)
    return _of_all(view)


@judge("DOC-2", "document layout")
def one_layout(view: View) -> Finding | None:
    """The document is the same whatever the worker count."""
    documents = [[event.document for event in _saved(view, index)] for index in (0, 1)]
    first, second = ([(s.do, s.n) for s in plan.steps] for plan in view.case.sessions[:2])
    for number, (one, other) in enumerate(zip(*documents, strict=False)):
        odd = sorted(set(layout(one)) ^ set(layout(other)))
        # The moments of snapshots belong to the execution.
        places = at_any_snapshot(one), at_any_snapshot(other)
        alike = first == second and one.get("plan") == other.get("plan")
        if odd or (alike and places[0] != places[1]):
            alone = f"{', '.join(odd[:4])} with one worker count alone"
            words = alone if odd else f"with another worker count {_changes(*places)}"
            return view.fails("invalid", f"save {number + 1}: {words}", one, other)
    return _held(view, 1)


@judge("DOC-3", *STATES)
def plain_types(view: View) -> Finding | None:
    """The loader's own part is JSON types."""
    for event in _every(view):
        odd = untyped(event.document)
        if odd:
            words = f"not of a JSON type: {', '.join(odd[:4])}"
            return view.fails("invalid", words, None, event.document)
    return _of_all(view)


@judge("DOC-4", "document tree")
def user_parts(view: View) -> Finding | None:
    """The document holds the dataset's tree unchanged, and a resume gives it back."""
    for index, session in enumerate(view.trace.sessions):
        fault = session.first_fault()
        if fault is not None and "the dataset's state came back" in fault.message:
            return view.fails(
                "values", in_words(fault), evidence=Evidence("error", index, wanted="no error")
            )
    for event in _saved(view, 0):
        entries = _entries(event.document)
        # A lane that has delivered nothing has no state yet; of the others some lane has one.
        stated = [e for e in entries if e.get("ordinal") or e.get("dataset") is not None]
        if not stated and any(entry.get("replay") for entry in entries):
            continue  # the first snapshot is still to come
        for entry in stated or entries:
            wrong = _tree_difference(view.case.workload, entry.get("dataset"))
            if wrong:
                return view.fails("values", wrong, None, entry)
    return _held(view, 0)


@judge("DOC-5", "document", "codec", "work codec", "history")
def canonical_bytes(view: View) -> Finding | None:
    """The encoding is the canonical one, to the byte."""
    for event in _every(view, codec="json"):
        if hashlib.sha256(canonical(event.document)).hexdigest() != event.digest:
            words = "the encoding is not the canonical one of its own content"
            return view.fails("invalid", words, canonical(event.document).decode(), event.document)
    return _of_all(view, codec="json")


@judge("DOC-6", "document reload", "published resume")
def loaded_and_taken(view: View) -> Finding | None:
    """A state loaded and taken again is an equal document."""
    if view.case.probe == "published resume":
        after = _saved(view, 0)
        given = _published(view)
        if not after or given is None:
            return _held(view, 0)
        state = given.data["state"]
        before = {name: state[name] for name in state if not name.startswith("x-")}
        return _equal(view, before, after[0].document)
    saved, taken = _saved(view, 0), _saved(view, 1)
    if not saved or not taken:
        return view.before(1) or _held(view, 1)
    return _equal(view, saved[0].document, taken[0].document)


def _equal(view: View, before: Any, after: Any) -> Finding:
    if before != after:
        return view.fails("different", f"it changes: {_changes(before, after)}", before, after)
    return view.passed()


@judge("DOC-7", "unknown field", "published resume", alone=True)
def unknown_fields(view: View) -> Finding | None:
    """Unknown fields are refused, and ``x-`` ones ignored and not written again."""
    if view.case.probe == "unknown field":
        return _rejected(view)
    published = _published(view)
    if published is None or published.requirement != "DOC-7":
        return None
    kept = [k for e in _saved(view, 0) for k in e.document if str(k).startswith("x-")]
    if kept:
        return view.fails("invalid", f"written again: {', '.join(kept)}", [], kept)
    return _continued(view)


@judge("DOC-8", "other version", alone=True)
def other_versions(view: View) -> Finding | None:
    """Another format or version is refused as such."""
    return _rejected(view)


@judge("DOC-9", "invalid state", "published mismatch", alone=True)
def invalid_states(view: View) -> Finding | None:
    """Each published invalid state is refused by the published error type."""
    return _mismatch(view) if view.case.probe == "published mismatch" else _rejected(view)


@judge("DOC-10", "document end")
def one_empty_epoch(view: View) -> Finding | None:
    """An unseen end is delivered as one empty epoch; the next epoch follows."""
    early = view.before(1)
    if early is not None:
        return early
    fault = next((e.fault for e in view.events(1) if e.fault is not None), None)
    if fault is not None:
        return view.of_fault(fault, sum(len(e.batches) for e in view.events(1)), 1)
    after = 1 + sum(event.ended for event in view.events(0))
    if len(view.epochs) <= after:
        return None
    got = [e.batches for e in view.events(1, "drain")]
    want = [[], view.epochs[after]]
    if got != want:
        words = f"first {show(got[0])}, then {show(got[1][:1])}; expected nothing, then the next"
        return view.silent("different", words, want, got)
    return view.passed()


@judge("DOC-11", "published resume", alone=True)
def published_resumes(view: View) -> Finding | None:
    """Each published resume is continued as published."""
    published = _published(view)
    if published is None or published.requirement == "DOC-7":
        return None
    return _continued(view)


@judge("DOC-12", "document plan", "invalid state", alone=True)
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
    """Return what an error leaves out: a differing field, or one of its values behind its name."""
    name_of_a_field = rf"(?<![\w-])({'|'.join(PLAN)})(?!\w)"
    pieces = re.split(name_of_a_field, message)
    # Each field's name, and the text up to the next field's.
    parts = list(zip(pieces[1::2], pieces[2::2], strict=True))
    for name, values in fields.items():
        said = " ".join(text for field, text in parts if field == name)
        if not any(field == name for field, _ in parts):
            return f"the error does not name {name}"
        missing = [v for v in values if not _says(said, v)]
        if missing:
            return f"the error does not name {', '.join(missing)} of {name}"
    return ""


@judge("DOC-13", "document refused")
def atomic(view: View) -> Finding | None:
    """A refused load is refused by the load itself and changes nothing."""
    load = next((e for e in view.events(0) if e.do.startswith("load")), None)
    if load is None:
        return view.blocked("the play did not get to the load")
    if load.fault is None:
        evidence = Evidence("error", last=load.step, wanted="a refusal")
        return view.fails("late error", "the load itself refuses nothing", evidence=evidence)
    problem = view.problem(0, tolerated=(load.step,))
    if problem is None:
        return view.passed()
    finding = view.of_problem(problem)
    words = f"after the refused load: {problem.words}"
    return view.fails("error", words, None, finding.got, problem.evidence)


@functools.lru_cache(maxsize=1)
def _validator() -> Any:
    # Only implementers of the format need it; the other judges do without.
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema())


def _saved(view: View, session: int) -> list[Event]:
    return [e for e in view.events(session, "save") if isinstance(e.document, dict)]


def _says(text: str, value: str) -> bool:
    """Return whether a text has a value as a word or a number of its own."""
    return re.search(rf"(?<![\w.-]){re.escape(value)}(?!\w|\.\d)", text) is not None


def _every(view: View, codec: str = "") -> list[Event]:
    """Return the saves of all sessions whose states are documents, by one codec or by any.

    A user who sets each epoch keeps its number beside the loader's document. Some trees have no
    canonical encoding: nothing can be read of a state that holds one.
    """
    w = view.case.workload
    if w.sampler == "distributed" or w.grow or w.tree in NOT_CANONICAL:
        return []
    found = []
    for index, plan in enumerate(view.case.sessions):
        saved = _saved(view, index)
        found += [e for e in saved if codec in ("", plan.steps[e.step].codec)]
    return found


def _of_all(view: View, codec: str = "") -> Finding | None:
    if view.case.probe == "document":
        return _held(view, 0)
    # The other families' judges say what else is wrong with a play.
    return view.passed() if _every(view, codec) else None


def _held(view: View, session: int) -> Finding:
    """Return a pass, or why the sessions up to this one could not be judged."""
    for index in range(session + 1):
        played = view.session(index)
        fault = played.first_fault() if played else None
        if fault is not None:
            return view.blocked(f"the run fails: {in_words(fault)}")
    if not _saved(view, session):
        return view.blocked("no document was taken")
    return view.passed()


def _entries(document: Any) -> list[dict[str, Any]]:
    return list((document.get("lanes") or {}).get("entries", []))


def _tree_difference(w: Workload, given: Any) -> str:
    if not isinstance(given, dict) or "position" not in given:
        return f"the dataset's state is not in the document: {given!r:.200}"
    position = given["position"]
    tree = w.state_tree(position)
    tree["big"] = {"$int": str(tree["big"])}
    if repr(given.get("tree")) != repr(dict(sorted(tree.items()))):
        return f"the dataset's tree is changed in the document: {given.get('tree')!r:.300}"
    return ""


def _changes(before: Any, after: Any, path: str = "$") -> str:
    if isinstance(before, dict) and isinstance(after, dict) and set(before) == set(after):
        odd = [(k, v) for k, v in before.items() if v != after[k]]
        return "; ".join(_changes(v, after[k], f"{path}.{k}") for k, v in odd)
    return f"{path} from {json.dumps(before)} to {json.dumps(after)}"[:200]


def _value(w: Workload, name: str) -> str:
    if name == "shuffle":
        return "shuffle" if w.shuffle else "sequential"
    return str(getattr(w, name))


def _step(view: View, event: Event) -> Step:
    return view.case.sessions[0].steps[event.step]


def _rejected(view: View) -> Finding | None:
    """Judge the loads of invalid states: each by the error type that its vector names."""
    session = view.session(0)
    if session is not None and session.fault is not None:
        return view.blocked(f"the loader cannot be built: {in_words(session.fault)}")
    for event in view.events(0, "load_document"):
        wanted = vector("invalid", _step(view, event).value)
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


def _published(view: View) -> Any:
    step = next((s for s in view.case.sessions[0].steps if s.do == "load_document"), None)
    return None if step is None else resume(step.value)


def _continued(view: View) -> Finding:
    """Judge the epochs after a published state, empty ones included."""
    published = _published(view)
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
    want = published.data["epochs"]
    if not view.case.workload.batch_size:
        alone = not view.case.workload.gives_batches
        want = [[[row] if alone else row for row in epoch] for epoch in want]
    for number, (expected, came) in enumerate(zip(want, got, strict=False)):
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
