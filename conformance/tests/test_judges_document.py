"""The judges of Document, on documents and batches written by hand or published."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
from typing import Any

import pytest
from written import FIRST, ORACLE, SECOND, SIX, THIRD, case, fault, found, outcome, run, trace

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.trace import Batch, Event, Fault, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.judges import judge
from midepoch_conformance.judges.format.document import canonical, untyped
from midepoch_conformance.verdict.format.published import (
    Vector,
    VectorError,
    resume,
    vector,
    vectors,
)

DOCUMENT: dict[str, Any] = {
    "format": "midepoch.state",
    "version": 1,
    "plan": {
        "dataset": "map",
        "length": 6,
        "sampler": "sequential",
        "sampler_name": None,
        "seed": "3",
        "batch_size": 2,
        "tail": "keep",
        "lanes": 0,
        "lifetime": "run",
        "data": None,
        "options": {},
    },
    "position": {
        "epoch": 0,
        "batches": 2,
        "samples": 4,
        "digest": None,
        "ahead": [],
        "carried": None,
        "share": None,
    },
    "sampler": None,
    "lanes": None,
}


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the document with one value changed; None removes nothing."""
    document = copy.deepcopy(DOCUMENT)
    *above, last = path.split(".")
    node = document
    for name in above:
        node = node[name]
    node[last] = value
    return document


def saved(
    probe: str, *documents: Any, workload: Workload = SIX, codec: str = "", **execution: Any
) -> tuple[Case, Trace]:
    """Return a case whose sessions save once each, and its trace."""
    save = f"save s codec={codec}" if codec else "save s"
    of = case(probe, *(f"take 2, {save}" for _ in documents), workload=workload, **execution)
    t = trace(of, *(["01|23", ""] for _ in documents))
    for session, document in zip(t.sessions, documents, strict=True):
        session.events[1].document = document
        session.events[1].digest = hashlib.sha256(canonical(document)).hexdigest()
    return of, t


# The document.


@pytest.mark.parametrize(
    ("document", "outcomes"),
    [
        (DOCUMENT, ("pass", "pass", "pass")),
        (changed("position.batches", -1), ("fails", "pass", "pass")),
        (changed("plan.lifetime", "day"), ("fails", "pass", "pass")),
        ({"unreadable": "TypeError"}, ("fails", "pass", "pass")),
        (changed("plan.lanes", {"$tuple": [1]}), ("fails", "fails", "pass")),
        (changed("position.samples", 4.0), ("pass", "fails", "pass")),
        (changed("plan.seed", "18446744073709551615"), ("pass", "pass", "pass")),
        (changed("plan.seed", {"$int": "18446744073709551615"}), ("fails", "fails", "pass")),
    ],
)
def test_documents(document: dict[str, Any], outcomes: tuple[str, ...]) -> None:
    of, t = saved("document", document)
    # JSON Schema takes 4.0 for an integer; the type is for DOC-3 to mind.
    for requirement, expected in zip(("DOC-1", "DOC-3", "DOC-5"), outcomes, strict=True):
        assert outcome(requirement, of, t)[0] == expected, requirement


def test_bytes_that_are_not_canonical() -> None:
    of, t = saved("document", DOCUMENT, codec="json")
    assert outcome("DOC-5", of, t) == ("pass", "")
    t.sessions[0].events[1].digest = hashlib.sha256(json.dumps(DOCUMENT).encode()).hexdigest()
    assert outcome("DOC-5", of, t) == ("fails", "invalid")


def test_tags_that_are_not_canonical() -> None:
    for value, expected in (([1, 2], ("pass", "")), ([2, 1], ("fails", "invalid"))):
        of, t = saved("document", with_entry({"$set": value}), codec="json")
        assert outcome("DOC-5", of, t) == expected


def test_a_state_that_cannot_be_decoded_is_not_the_same() -> None:
    of = case("work codec", "take 2, save s codec=json", "load s, drain")
    texts = ["01|23", ""], ["!codec KeyError '$set'", "45."]
    t = trace(of, *texts)
    t.sessions[0].events[1].document = DOCUMENT
    assert outcome("DOC-15", of, t) == ("fails", "codec")


def test_a_run_without_documents_is_blocked() -> None:
    of = case("document", "take 2, save s")
    t = trace(of, ["01|23", "!state RuntimeError no"])
    assert {f.outcome for f in judge(of, t, ORACLE)} == {"blocked"}


def test_layouts() -> None:
    for same in (DOCUMENT, changed("plan.lanes", 2)):  # another plan is another document
        of, t = saved("document layout", DOCUMENT, same)
        assert outcome("DOC-2", of, t) == ("pass", "")
    for other in (changed("position.epoch", 1), changed("plan.workers", 2)):
        of, t = saved("document layout", DOCUMENT, other)
        assert outcome("DOC-2", of, t) == ("fails", "invalid")
    # The case holds the plan fixed.
    of, t = saved("document layout", DOCUMENT, changed("plan.lanes", 2), lanes=2)
    assert outcome("DOC-2", of, t) == ("fails", "invalid")


def with_entry(state: Any) -> dict[str, Any]:
    entry = {
        "dataset": state,
        "iterator": None,
        "stated": ["dataset"],
        "ordinal": 2,
        "ended": False,
        "replay": 0,
    }
    return changed("lanes", {"next": 0, "entries": [entry]})


def test_user_parts() -> None:
    w = dataclasses.replace(SIX, kind="stateful_iterable", tree=True)
    tree = w.state_tree(4) | {"big": {"$int": str(2**70 + 4)}}
    of, t = saved("document tree", with_entry({"position": 4, "tree": tree}), workload=w)
    assert outcome("DOC-4", of, t) == ("pass", "")
    for wrong in (tree | {"flags": [1, 1, 0, 0, 1.0]}, tree | {"none": 0}, {}):
        of, t = saved("document tree", with_entry({"position": 4, "tree": wrong}), workload=w)
        assert outcome("DOC-4", of, t) == ("fails", "values")
    of, t = saved("document tree", with_entry(None), workload=w)
    assert outcome("DOC-4", of, t) == ("fails", "values")
    # A lane that has delivered nothing yet has nothing to state.
    delivered = with_entry({"position": 4, "tree": tree})
    entries = [*delivered["lanes"]["entries"]]
    idle = {**entries[0], "dataset": None, "ordinal": 0, "stated": []}
    lanes = {"next": 1, "entries": [{**entries[0], "ordinal": 1}, idle]}
    of, t = saved("document tree", {**delivered, "lanes": lanes}, workload=w)
    assert outcome("DOC-4", of, t) == ("pass", "")
    lanes["entries"] = [{**idle, "ordinal": 1}, {**entries[0], "ordinal": 1}]
    of, t = saved("document tree", {**delivered, "lanes": lanes}, workload=w)
    assert outcome("DOC-4", of, t) == ("fails", "values")
    # Nor has one whose first snapshot is still to come.
    lanes["entries"] = [{**idle, "replay": 2}]
    of, t = saved("document tree", {**delivered, "lanes": lanes}, workload=w)
    assert outcome("DOC-4", of, t) == ("pass", "")
    of = case("document tree", "take 2, save s", "load s, drain", workload=w)
    t = trace(of, ["01|23", ""], ["", "!iter WorkloadError the dataset's state came back changed"])
    assert outcome("DOC-4", of, t) == ("fails", "values")


def test_loaded_and_taken_again() -> None:
    of = case("document reload", "take 2, save s", "load s, save t")
    for second, expected in (
        (DOCUMENT, ("pass", "")),
        (changed("position.epoch", 1), ("fails", "different")),
    ):
        t = trace(of, ["01|23", ""], ["", ""])
        t.sessions[0].events[1].document = DOCUMENT
        t.sessions[1].events[1].document = second
        assert outcome("DOC-6", of, t) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["!load KeyError 'lanes'"], ("fails", "bare error")),
        (["!hang load"], ("fails", "hang")),
        (["", "!state RuntimeError no"], ("fails", "save")),
    ],
)
def test_a_state_that_is_not_loaded_is_a_failure(
    texts: list[str], expected: tuple[str, str]
) -> None:
    of = case("document reload", "take 2, save s", "load s, save t")
    t = trace(of, ["01|23", ""], texts)
    t.sessions[0].events[1].document = DOCUMENT
    assert outcome("DOC-6", of, t) == expected


def test_a_state_that_the_first_batch_refuses_was_not_loaded() -> None:
    of = case("document reload after an error", "take 2, save s", "load s, save t, take 1?")
    for text, expected in (
        ("!iter RuntimeError another replay", ("fails", "refusal")),
        ("!next WorkloadError sample 3 fails on purpose", ("pass", "")),
    ):
        t = trace(of, ["01|23", ""], ["", "", text])
        t.sessions[0].events[1].document = t.sessions[1].events[1].document = DOCUMENT
        assert outcome("DOC-6", of, t) == expected


def test_sharing_ranks_count_whole_batches_without_what_fills_them_up() -> None:
    w = Workload(n=5, batch_size=4, ranks="shared")
    probe, steps = "document reload of sharing ranks", ("take 2, save s", "load s, save t")
    of = case(probe, *steps, workload=w, world=2)
    t = trace(of, ["01|4", ""], ["", ""])
    for samples, expected in ((5, ("pass", "")), (6, ("fails", "invalid"))):
        document = changed("position.samples", samples)
        t.sessions[0].events[1].document = t.sessions[1].events[1].document = document
        assert outcome("DOC-19", of, t) == expected


def test_the_change_of_a_reloaded_document_is_named() -> None:
    of = case("document reload", "take 2, save s", "load s, save t")
    t = trace(of, ["01|23", ""], ["", ""])
    t.sessions[0].events[1].document = DOCUMENT
    t.sessions[1].events[1].document = changed("position.epoch", 1)
    finding = found("DOC-6", of, t)
    assert finding is not None
    assert finding.words == "it changes: $.position.epoch from 0 to 1"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["", ".", f"{SECOND}."], ("pass", "")),
        (["", f"{SECOND}.", "."], ("fails silently", "different")),
        (["", ".", "."], ("fails silently", "different")),
        (["", ".", "!iter RuntimeError no"], ("fails", "refusal")),
    ],
)
def test_the_end_of_an_epoch(texts: list[str], expected: tuple[str, str]) -> None:
    of = case("document end", "take 3, save s", "load s, drain, drain")
    assert outcome("DOC-10", of, trace(of, [FIRST, ""], texts)) == expected


def test_the_end_of_a_later_epoch() -> None:
    of = case("document end", "drain, take 3, save s", "load s, drain, drain")
    first = [f"{FIRST}.", SECOND, ""]
    assert outcome("DOC-10", of, trace(of, first, ["", ".", f"{THIRD}."])) == ("pass", "")
    skipped = trace(of, first, ["", f"{THIRD}.", "."])
    assert outcome("DOC-10", of, skipped) == ("fails silently", "different")


PLAN = "PlanMismatchError another plan: batch_size 2, here 3; length 6, here 8"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([f"!load {PLAN}"], ("pass", "")),
        (["!load PlanMismatchError batch_size 2, here 3"], ("fails", "refusal")),
        (
            ["!load PlanMismatchError batch_size 20, here 13; length 16, here 18 [DOC-12]"],
            ("fails", "refusal"),
        ),
        (
            ["!load PlanMismatchError batch_size 6, here 8; length 2, here 3"],
            ("fails", "refusal"),
        ),
        (
            ["!load PlanMismatchError saved: batch_size=2, length=6; here: batch_size=3, length=8"],
            ("pass", ""),
        ),
        (
            ["!load PlanMismatchError 6 and 8 differ in length; batch_size of the dataset: 2 or 3"],
            ("pass", ""),
        ),
        (["!load PlanMismatchError batch_size and length differ"], ("fails", "refusal")),
        (["!load ValueError batch_size 2, here 3; length 6, here 8"], ("fails", "refusal")),
        (["", "45."], ("fails silently", "different")),
    ],
)
def test_another_plan(texts: list[str], expected: tuple[str, str]) -> None:
    of = case("document plan", "take 2, save s", "load s, drain")
    second = dataclasses.replace(of.sessions[1], workload=(("batch_size", 3), ("n", 8)))
    of = dataclasses.replace(of, sessions=(of.sessions[0], second))
    assert outcome("DOC-12", of, trace(of, ["01|23", ""], texts)) == expected


@pytest.mark.parametrize(
    ("changed_to", "expected"),
    [
        ((("n", 6), ("batch_size", 3)), ("pass", "")),
        ((("n", 6), ("batch_size", 2)), None),
    ],
)
def test_a_field_that_was_drawn_alike_need_not_be_named(changed_to: Any, expected: Any) -> None:
    of = case("document plan", "take 2, save s", "load s, drain")
    second = dataclasses.replace(of.sessions[1], workload=changed_to)
    of = dataclasses.replace(of, sessions=(of.sessions[0], second))
    text = "!load PlanMismatchError another plan: batch_size 2, here 3"
    finding = found("DOC-12", of, trace(of, ["01|23", ""], [text]))
    assert (finding and (finding.outcome, finding.kind)) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["01", "!load StateFormatError no state", "23|45."], ("pass", "")),
        (["01", "", "!next StateFormatError no state"], ("fails", "late error")),
        (["01", "!load StateFormatError no", f"{FIRST}."], ("fails", "error")),
        (["01", "!load StateFormatError no", "!next RuntimeError stale"], ("fails", "error")),
        (["01", "!crash load"], ("fails", "crash")),
    ],
)
def test_a_refused_load_is_atomic(texts: list[str], expected: tuple[str, str]) -> None:
    of = case("document refused", "take 1, load_bogus none?, drain")
    assert outcome("DOC-13", of, trace(of, texts)) == expected


# The published vectors.


def given(probe: str, v: Vector, workload: Workload, drains: int = 0) -> Case:
    steps = [Step("load_document", value=v.name, document=v.text, tolerate=True)]
    steps += [Step("save", state="s"), *[Step("drain")] * drains] if drains else []
    return Case(probe, workload, (SessionPlan(Execution(), tuple(steps)),))


def refused(name: str, at: str = "load") -> Fault:
    return Fault("raised", name, (name, "StateError", "ValueError"), "refused", at=at)


@pytest.mark.parametrize(
    ("requirement", "probe", "name"),
    [
        ("DOC-7", "unknown field", "DOC-7"),
        ("DOC-8", "other version", "DOC-8"),
        ("DOC-17", "other version", "DOC-17"),
        ("DOC-9", "invalid state", "DOC-1"),
        ("DOC-9", "invalid state", "DOC-14"),
    ],
)
def test_invalid_states(requirement: str, probe: str, name: str) -> None:
    v = next(v for v in vectors("invalid") if v.requirement == name)
    of = given(probe, v, SIX)

    def loaded(result: Fault | None) -> Trace:
        return Trace(of.id, [SessionTrace([Event(0, "load_document", fault=result)])])

    assert outcome(requirement, of, loaded(refused(v.error))) == ("pass", "")
    assert outcome(requirement, of, loaded(refused(v.error, "codec"))) == ("pass", "")
    assert outcome(requirement, of, loaded(None)) == ("fails silently", "invalid")
    assert outcome(requirement, of, loaded(refused("RuntimeError"))) == ("fails", "refusal")
    assert outcome(requirement, of, loaded(refused(v.error, "iter"))) == ("fails", "refusal")


def test_the_first_of_many_invalid_states_is_named() -> None:
    one, two = vectors("invalid")[:2]
    steps = tuple(Step("load_document", value=v.name, tolerate=True) for v in (one, two))
    of = Case("invalid state", SIX, (SessionPlan(Execution(), steps),))
    events = [Event(0, "load_document", fault=refused(one.error)), Event(1, "load_document")]
    finding = found("DOC-9", of, Trace(of.id, [SessionTrace(events)]))
    assert finding is not None
    assert finding.words == f"{two.name} ({two.data['fault']}): it is loaded without an error"


def test_a_mismatch_is_refused_before_any_batch() -> None:
    v = vector("mismatches", "digest-of-position")
    steps = (Step("load_document", value=v.name, tolerate=True), Step("take", 1, tolerate=True))
    of = Case("published mismatch", SIX, (SessionPlan(Execution(), steps),))

    def met(take: Event, load: Fault | None = None) -> tuple[str, str] | None:
        events = [Event(0, "load_document", fault=load), take]
        return outcome("DOC-9", of, Trace(of.id, [SessionTrace(events)]))

    def refusing(error: str) -> Event:
        return Event(1, "take", fault=refused(error, "iter"))

    assert met(refusing(v.error)) == ("pass", "")
    assert met(Event(1, "take", batches=FIRST[:1]), refused(v.error)) == ("pass", "")
    assert met(refusing("RuntimeError")) == ("fails", "refusal")
    assert met(Event(1, "take", batches=FIRST[:1])) == ("fails silently", "invalid")


def test_a_published_batch_that_raised_is_raised_again() -> None:
    v = resume("faulty")
    steps = [Step("load_document", value=v.name)]
    events = [Event(0, "load_document")]
    for epoch in v.data["epochs"]:
        rest: list[Batch] = []
        for batch in [*epoch, "end"]:
            if batch in (None, "end"):  # up to each batch that raises, and up to the end
                error = fault("next OSError id 2") if batch is None else None
                events.append(
                    Event(len(steps), "drain", rest, ended=error is None, opened=True, fault=error)
                )
                steps.append(Step("drain", tolerate=error is not None))
                rest = []
            else:
                rest.append(batch)
    of = Case("published resume", SIX, (SessionPlan(Execution(), tuple(steps)),))
    played = Trace(of.id, [SessionTrace(events)])
    assert outcome("DOC-11", of, played) == ("pass", "")
    raising = next(e for e in events if e.fault is not None)
    raising.fault = fault("next KeyError id 2")
    assert outcome("DOC-11", of, played) == ("fails", "late error")
    raising.fault = None  # the batch that raised is skipped in silence
    assert outcome("DOC-11", of, played) == ("fails silently", "different")


def resumed(name: str, *epochs: list[Batch]) -> tuple[Case, Trace]:
    v = vector("resumes", name)
    of = given("published resume", v, SIX, drains=len(epochs))
    events = [Event(0, "load_document"), Event(1, "save", document=DOCUMENT)]
    events += [
        Event(2 + i, "drain", batches=epoch, ended=True, opened=True)
        for i, epoch in enumerate(epochs)
    ]
    return of, Trace(of.id, [SessionTrace(events)])


def test_published_resumes() -> None:
    epochs = vector("resumes", "map-sequential").data["epochs"]
    of, t = resumed("map-sequential", *epochs)
    assert outcome("DOC-11", of, t) == ("pass", "")
    assert found("DOC-16", of, t) is None
    of, t = resumed("map-sequential", epochs[1], epochs[2], epochs[2])
    assert outcome("DOC-11", of, t) == ("fails silently", "different")
    refusing = run(of, [Event(0, "load_document", fault=fault("load ValueError no"))])
    assert outcome("DOC-11", of, refusing) == ("fails", "refusal")


def test_a_published_end_is_one_empty_epoch() -> None:
    epochs = vector("resumes", "map-end-unseen").data["epochs"]
    assert epochs[0] == []
    of, t = resumed("map-end-unseen", *epochs)
    assert outcome("DOC-11", of, t) == ("pass", "")
    of, t = resumed("map-end-unseen", *epochs[1:], [])
    assert outcome("DOC-11", of, t) == ("fails silently", "different")


def test_extension_fields_are_ignored_and_dropped() -> None:
    epochs = vector("resumes", "map-x-field").data["epochs"]
    of, t = resumed("map-x-field", *epochs)
    assert outcome("DOC-16", of, t) == ("pass", "")
    assert found("DOC-11", of, t) is None
    t.sessions[0].events[1].document = DOCUMENT | {"x-note": 1}
    assert outcome("DOC-16", of, t) == ("fails", "invalid")
    refusing = run(of, [Event(0, "load_document", fault=fault("load ValueError x-note"))])
    assert outcome("DOC-16", of, refusing) == ("fails", "refusal")


def test_a_vector_that_is_not_published_is_named() -> None:
    with pytest.raises(VectorError, match="no vector 'nowhere' under vectors/resumes"):
        vector("resumes", "nowhere")


def test_floats_are_the_loaders_own_only_in_a_generators_state() -> None:
    generator = {"kind": "python", "path": "sampler.rng", "state": [3, [1, 2], 0.5]}
    assert untyped({"sampler": {"generators": [generator]}}) == []
    assert untyped({"position": {"batches": 1.0}}) == ["/position/batches"]
    assert untyped({"position": {"carried": [{"$tuple": [0, 1]}]}}) == []
