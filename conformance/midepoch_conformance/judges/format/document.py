"""Document: the states that a loader of midepoch's own format writes, and how it loads them."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import Any

from midepoch_conformance.case.case import HISTORY, OF_STAGES, PROGRAM
from midepoch_conformance.case.data.trees import NOT_CANONICAL
from midepoch_conformance.case.history import faulty, one_plan
from midepoch_conformance.case.stages import for_one_epoch
from midepoch_conformance.case.trace import Event
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges.format.published import given
from midepoch_conformance.judges.outages import carried
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.compare import show
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding, in_words, is_refusal
from midepoch_conformance.verdict.format.consistency import contradictions
from midepoch_conformance.verdict.format.document import at_any_snapshot, canonical, layout, untyped
from midepoch_conformance.verdict.format.position import counted
from midepoch_conformance.verdict.format.published import schema
from midepoch_conformance.verdict.format.tags import uncanonical

__all__: list[str] = []

STATES = (
    "document", "document position", "rollover", "work later", "work chain", "unordered",
    "merged ranks", "merged ranks at an end", "document reload of sharing ranks", "history",
    "program", *OF_STAGES,
)  # fmt: skip
"""The families whose states show all parts of a document: lanes, samplers, carried, ahead."""

RESUMES = (
    HISTORY, PROGRAM, "cut", "work cut", "chain", "work chain", "interval", "work interval",
    "work later", "unordered", "unordered elastic", "unordered caught up", "unordered sampler",
)  # fmt: skip
"""The families in which the loader's own states are loaded under their plan."""


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
    documents = [[event.document for event in view.saves(index)] for index in (0, 1)]
    first, second = ([(s.do, s.n) for s in plan.steps] for plan in view.case.sessions[:2])
    x, y = (plan.execution for plan in view.case.sessions[:2])
    # The case itself holds the plan fixed: its lanes, and how long they live.
    fixed = x.lanes == y.lanes is not None and for_one_epoch(x) is for_one_epoch(y)
    for number, (one, other) in enumerate(zip(*documents, strict=False)):
        odd = sorted(set(layout(one)) ^ set(layout(other)))
        # The moments of snapshots belong to the execution.
        places = at_any_snapshot(one), at_any_snapshot(other)
        alike = first == second and (fixed or one.get("plan") == other.get("plan"))
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
    # Of a state that was decoded from JSON, DOC-15 says whether it is still the same.
    changed = None if _in_json(view) else _came_back_changed(view)
    if changed is not None:
        return changed
    for event in view.saves(0):
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
        tagged = uncanonical(event.document)
        if tagged:
            return view.fails("invalid", tagged, None, event.document)
    return _of_all(view, codec="json")


@judge(
    "DOC-6",
    "document reload",
    "document reload of ranks",
    "document reload of sharing ranks",
    "document reload after an error",
    "published resume",
    *RESUMES,
    alone=True,
)
def loaded_and_taken(view: View) -> Finding | None:
    """A state loads, and is an equal document if it is taken again."""
    if view.case.probe in RESUMES:
        return _not_refused(view)
    if view.case.probe == "published resume":
        after = view.saves(0)
        published = given(view)
        if not after or published is None:
            return _held(view, 0)
        state = published.data["state"]
        before = {name: state[name] for name in state if not name.startswith("x-")}
        return _equal(view, before, after[0].document)
    saved, taken = view.saves(0), view.saves(1)
    faulty = [(e.do, e.fault) for e in view.events(1) if e.fault is not None]
    # A loader that makes a failed batch again refuses nothing.
    do, fault = next(((do, fault) for do, fault in faulty if not carried(fault)), ("", None))
    if saved and fault is not None and (do.startswith(("load", "save")) or is_refusal(fault, 0)):
        return view.of_fault(fault, 0, 1)
    if not saved or not taken:
        return view.before(1) or _held(view, 1)
    return _equal(view, saved[0].document, taken[0].document)


def _not_refused(view: View) -> Finding | None:
    """Return the first refusal of a state of the loader's own, under its plan and without a fault.

    What a resume delivers is judged by others.
    """
    if not view.writes_documents() or faulty(view.case) or not one_plan(view.case):
        return None
    for index in range(len(view.case.sessions)):
        delivered, loaded = 0, False
        for event in view.events(index, "load", "take", "drain"):
            if event.do == "load":
                delivered, loaded = 0, True
            if loaded and event.fault is not None:
                if is_refusal(event.fault, delivered):
                    return view.of_fault(event.fault, 0, index)
                return None
            delivered += len(event.batches)
    return view.passed()


def _equal(view: View, before: Any, after: Any) -> Finding:
    if before != after:
        return view.fails("different", f"it changes: {_changes(before, after)}", before, after)
    return view.passed()


@judge("DOC-10", "document end", "asked beyond the end")
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


@judge("DOC-13", "document refused")
def atomic(view: View) -> Finding | None:
    """A refused load is refused by the load itself and changes nothing."""
    load = next((e for e in view.events(0) if e.do.startswith("load")), None)
    if load is None:
        return view.blocked("the play did not get to the load")
    if load.fault is None:
        evidence = Evidence("error", last=load.step, wanted="a refusal")
        return view.fails("late error", "the load itself refuses nothing", evidence=evidence)
    if load.fault.kind != "raised":
        return view.of_fault(load.fault, 0, 0)
    problem = view.problem(0, tolerated=(load.step,))
    if problem is None:
        return view.passed()
    finding = view.of_problem(problem)
    words = f"after the refused load: {problem.words}"
    return view.fails("error", words, None, finding.got, problem.evidence)


@judge("DOC-15", "document tree", "work codec")
def decodes_the_same(view: View) -> Finding | None:
    """A state that is decoded from its canonical encoding is the state that was encoded."""
    if not _in_json(view) or not view.saves(0):
        return None
    for index, session in enumerate(view.trace.sessions):
        fault = session.first_fault()
        if fault is not None and fault.kind == "codec":
            return view.of_fault(fault, 0, index)
    return _came_back_changed(view) or view.before(1) or view.passed()


@judge("DOC-18", *STATES)
def consistent(view: View) -> Finding | None:
    """Each state is consistent by the rules of the page."""
    for index, event in _every_place(view):
        document = event.document
        if not _validator().is_valid(document):
            return view.blocked("a state is not well-formed (DOC-1)")
        found = next(contradictions(document), None)
        if found is not None:
            words = f"{found.path}: {found.words} ({found.rule})"
            evidence = Evidence("recipe", index, event.step)
            return view.fails("invalid", words, found.path, document, evidence)
    return _of_all(view)


@judge("DOC-19", *STATES)
def counts_what_was_delivered(view: View) -> Finding | None:
    """The position of each state counts the batches and samples of its epoch."""
    documents = {(index, event.step): event.document for index, event in _every_place(view)}
    for place, wanted in counted(view.case, view.trace):
        if place not in documents:
            continue
        position = documents[place].get("position")
        if not isinstance(position, dict):
            return view.blocked("a state has no position (DOC-1)")
        got = {name: position.get(name) for name in wanted}
        if got != wanted:
            odd = next(name for name in wanted if got[name] != wanted[name])
            words = f"position/{odd}: {got[odd]}, and {wanted[odd]} counts what was delivered"
            return view.fails("invalid", words, wanted, got, Evidence("recipe", *place))
    return _of_all(view)


@functools.lru_cache(maxsize=1)
def _validator() -> Any:
    # Only implementers of the format need it; the other judges do without.
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(schema())


def _every(view: View, codec: str = "") -> list[Event]:
    """Return the saves and merges whose states are documents, by one codec or by any."""
    return [event for _, event in _every_place(view, codec)]


def _every_place(view: View, codec: str = "") -> list[tuple[int, Event]]:
    """Return the saves and merges of all sessions whose states are documents, with the session.

    A user who sets each epoch keeps its number beside the loader's document. Some trees have no
    canonical encoding: nothing can be read of a state that holds one.
    """
    w = view.case.workload
    if w.sets_epoch or w.grow or w.tree in NOT_CANONICAL:
        return []
    found = []
    for index, plan in enumerate(view.case.sessions):
        written = view.saves(index) + view.merges(index)
        found += [(index, e) for e in written if codec in ("", plan.steps[e.step].codec)]
    return found


def _in_json(view: View) -> bool:
    """Return whether the states of a case are encoded in JSON."""
    return any(step.codec == "json" for step in view.case.sessions[0].steps)


def _came_back_changed(view: View) -> Finding | None:
    """Return the failure that a dataset's own state came back changed, as the dataset says."""
    for index, session in enumerate(view.trace.sessions):
        fault = session.first_fault()
        if fault is not None and "the dataset's state came back" in fault.message:
            evidence = Evidence("error", index, wanted="no error")
            return view.fails("values", in_words(fault), evidence=evidence)
    return None


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
    if not view.saves(session):
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
