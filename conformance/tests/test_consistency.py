"""The rules across a document's fields, and the judges of what each state must hold."""

from __future__ import annotations

import copy
import dataclasses
from typing import Any

import jsonschema_rs
import pytest
from test_judges_document import DOCUMENT, changed, given, refused
from written import FIRST, SECOND, SIX, case, found, outcome, trace

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Event, SessionTrace, Trace
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.format.consistency import contradictions
from midepoch_conformance.verdict.format.published import Vector, schema, vectors

SCHEMA = jsonschema_rs.Draft202012Validator(schema())
NOT_WELL_FORMED = {
    "batches-float",
    "length-float",
    "version-float",
    # The schema cannot tell two equal paths from one.
    "generator-path-twice",
}
"""The faults that the schema accepts, and that are faults of one field."""

INCONSISTENT = [
    v
    for v in vectors("invalid")
    if v.error == "StateFormatError"
    and SCHEMA.is_valid(v.data["state"])
    and v.name not in NOT_WELL_FORMED
]
RESUMES = vectors("resumes")


def test_there_are_states_for_each_rule() -> None:
    broken = {found.rule for v in INCONSISTENT for found in contradictions(v.data["state"])}
    # The schema has the first rule; the ninth and tenth are no conditions.
    assert broken == {f"VAL-{rule}" for rule in (*range(2, 9), 11, 12)}


@pytest.mark.parametrize("v", INCONSISTENT, ids=lambda v: v.name)
def test_a_published_inconsistent_state_is_found(v: Vector) -> None:
    assert list(contradictions(v.data["state"]))


@pytest.mark.parametrize("v", RESUMES, ids=lambda v: v.name)
def test_a_published_state_is_consistent(v: Vector) -> None:
    assert SCHEMA.is_valid(v.data["state"])
    assert list(contradictions(v.data["state"])) == []


MAP = next(v.data["state"] for v in RESUMES if v.data["state"]["plan"]["dataset"] == "map")
STREAM = next(v.data["state"] for v in RESUMES if v.data["state"]["plan"]["dataset"] == "iterable")
CUSTOM = next(
    v.data["state"]
    for v in RESUMES
    if v.data["state"]["sampler"] is not None and v.data["state"]["sampler"]["batches"] == 0
)


@pytest.mark.parametrize(
    ("base", "path", "value", "rule"),
    [
        (MAP, "plan.sampler", "none", "VAL-1"),
        (MAP, "plan.sampler_name", "Reversed", "VAL-1"),
        (STREAM, "plan.length", 9, "VAL-1"),
        (STREAM, "plan.tail", "rollover", "VAL-1"),
        (MAP, "position.digest", "0" * 64, "VAL-2"),
        (MAP, "position.share", {"rank": 0, "world": 2}, "VAL-2"),
        (STREAM, "lanes", None, "VAL-6"),
        (CUSTOM, "sampler.states.batch_sampler", 1, "VAL-5"),
        (CUSTOM, "sampler.digest", "0" * 64, "VAL-5"),
        (STREAM, "lanes.entries.0.ordinal", -1, "VAL-6"),
        (STREAM, "lanes.entries.0.replay", 99, "VAL-7"),
    ],
)
def test_a_broken_rule(base: dict[str, Any], path: str, value: Any, rule: str) -> None:
    document = copy.deepcopy(base)
    if path.endswith("ordinal"):
        document["plan"]["lifetime"] = "epoch"
    *above, last = path.split(".")
    node: Any = document
    for name in above:
        node = node[int(name)] if isinstance(node, list) else node[name]
    node[last] = value
    assert rule in {found.rule for found in contradictions(document)}


# The judges.


def written(documents: list[Any], *sessions: str, texts: list[list[str]]) -> tuple[Case, Trace]:
    """Return a case and its trace, whose saves wrote these documents in turn."""
    of = case("document", *sessions)
    t = trace(of, *texts)
    saves = [e for session in t.sessions for e in session.events if e.do == "save"]
    for event, document in zip(saves, documents, strict=True):
        event.document = document
    return of, t


def one(document: Any) -> tuple[Case, Trace]:
    return written([document], "take 2, save s", texts=[["01|23", ""]])


def test_a_state_that_contradicts_itself() -> None:
    assert outcome("DOC-18", *one(DOCUMENT)) == ("pass", "")
    finding = found("DOC-18", *one(changed("position.samples", 3)))
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails", "invalid")
    assert finding.words == "position/samples: 3, and 2 batches have 4 (VAL-3)"
    assert outcome("DOC-18", *one(changed("position.batches", -1))) == ("blocked", "")


def at(epoch: int, batches: int, samples: int) -> dict[str, Any]:
    position = {**DOCUMENT["position"], "epoch": epoch, "batches": batches, "samples": samples}
    return {**DOCUMENT, "position": position}


MOMENTS = (
    ("save a, take 0, save b, take 2, save c", (0, 0, 0), (0, 0, 0), (0, 2, 4)),
    ("take 3, save a, drain, save b", (0, 3, 6), (1, 0, 0)),
    ("take 1, break, save a, take 1, save b", (0, 1, 2), (1, 1, 2)),
    ("take 1, break, take 0, save a", (1, 0, 0)),
    ("take 0, break, take 1, save a", (0, 1, 2)),
)
TEXTS = {"take 0": "", "take 1": "01", "take 2": "01|23", "take 3": FIRST, "drain": "."}


def texts_of(session: str) -> list[str]:
    return [TEXTS.get(step, "") for step in session.split(", ")]


@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment[0])
def test_a_position_counts_what_was_delivered(moment: tuple[Any, ...]) -> None:
    session, *places = moment
    documents = [at(*place) for place in places]
    assert outcome("DOC-19", *written(documents, session, texts=[texts_of(session)])) == (
        "pass",
        "",
    )
    for number, place in enumerate(places):
        for wrong in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
            moved = at(*(a + b for a, b in zip(place, wrong, strict=True)))
            others = [*documents[:number], moved, *documents[number + 1 :]]
            of, t = written(others, session, texts=[texts_of(session)])
            finding = found("DOC-19", of, t)
            assert finding is not None
            assert (finding.outcome, finding.kind) == ("fails", "invalid")
            assert finding.expected == dict(
                zip(("epoch", "batches", "samples"), place, strict=True)
            )


RESUMED = ("take 2, save a", "load a, save b, take 1, save c, drain, save d")
RESUMED_TEXTS = [["01|23", ""], ["", "", "45", "", ".", ""]]


def test_a_resume_counts_on() -> None:
    right = [at(0, 2, 4), at(0, 2, 4), at(0, 3, 6), at(1, 0, 0)]
    assert outcome("DOC-19", *written(right, *RESUMED, texts=RESUMED_TEXTS)) == ("pass", "")
    anew = [*right[:2], at(0, 1, 2), right[3]]
    finding = found("DOC-19", *written(anew, *RESUMED, texts=RESUMED_TEXTS))
    assert finding is not None
    assert finding.words == "position/batches: 1, and 3 counts what was delivered"
    assert finding.evidence is not None
    assert (finding.evidence.session, finding.evidence.step) == (1, 3)


def test_an_error_is_found_once() -> None:
    """A resume goes on from the position that it loads, whatever that is."""
    wrong = [at(0, 1, 2), at(0, 1, 2), at(0, 2, 4), at(1, 0, 0)]
    finding = found("DOC-19", *written(wrong, *RESUMED, texts=RESUMED_TEXTS))
    assert finding is not None
    assert finding.evidence is not None
    assert (finding.evidence.session, finding.evidence.step) == (0, 1)


def test_the_empty_rest_of_an_epoch_counts_no_more() -> None:
    sessions = ("take 3, save a", "load a, drain, save b, drain, save c")
    texts = [[FIRST, ""], ["", ".", "", f"{SECOND}.", ""]]
    right = [at(0, 3, 6), at(1, 0, 0), at(2, 0, 0)]
    assert outcome("DOC-19", *written(right, *sessions, texts=texts)) == ("pass", "")


@pytest.mark.parametrize(
    ("session", "texts"),
    [
        ("take 2?, save a", ["01!next WorkloadError on purpose", ""]),
        ("load_bogus text, save a", ["", ""]),
        ("save a, take 2, load a, take 1, save b", ["", "01|23", "", "45", ""]),
    ],
)
def test_a_position_that_is_not_known_is_not_judged(session: str, texts: list[str]) -> None:
    documents = [at(0, 0, 0)] if "save b" in session else []
    assert outcome("DOC-19", *written([*documents, at(5, 5, 5)], session, texts=[texts])) == (
        ("blocked", "") if "!" in texts[0] else ("pass", "")
    )


def test_a_state_without_a_position_is_not_judged() -> None:
    assert outcome("DOC-19", *one({"unreadable": "TypeError"})) == ("blocked", "")


def test_a_refused_load_moves_nothing() -> None:
    session = "take 2, load_bogus text?, save a, take 1, save b"
    texts = ["01|23", "!load ValueError no state", "", "45", ""]
    of, t = written([at(0, 2, 4), at(0, 2, 4)], session, texts=[texts])
    finding = found("DOC-19", of, t)
    assert finding is not None
    assert finding.words == "position/batches: 2, and 3 counts what was delivered"


def test_a_state_from_json_is_the_state_that_was_encoded() -> None:
    w = dataclasses.replace(SIX, kind="stateful_iterable", tree="plain")
    lost = ["", "!iter WorkloadError the dataset's state came back changed"]
    for codec, decoded, carried in (("json", "fails", None), ("pickle", None, "fails")):
        of = case("document tree", f"take 2, save s codec={codec}", "load s, drain", workload=w)
        t = trace(of, ["01|23", ""], lost)
        t.sessions[0].events[1].document = with_tree(w)
        finding = found("DOC-15", of, t)
        assert (finding.outcome if finding else None) == decoded
        assert outcome("DOC-4", of, t)[0] == (carried or "pass")
        kept = trace(of, ["01|23", ""], ["", "45."])
        kept.sessions[0].events[1].document = with_tree(w)
        finding = found("DOC-15", of, kept)
        assert (finding.outcome if finding else None) == (decoded and "pass")


def with_tree(w: Workload) -> dict[str, Any]:
    tree = w.state_tree(4) | {"big": {"$int": str(2**70 + 4)}}
    entry = {"dataset": {"position": 4, "tree": tree}, "ordinal": 2, "replay": 0}
    return {**DOCUMENT, "lanes": {"next": 0, "entries": [entry]}}


def test_of_other_versions_and_other_formats_each_has_its_judge() -> None:
    by_id = {v.requirement: v for v in vectors("invalid") if v.requirement in ("DOC-8", "DOC-17")}
    steps = tuple(given("other version", v, SIX).sessions[0].steps[0] for v in by_id.values())
    of = given("other version", by_id["DOC-8"], SIX)
    of = dataclasses.replace(of, sessions=(dataclasses.replace(of.sessions[0], steps=steps),))
    events = [
        Event(i, "load_document", fault=refused(v.error) if v.requirement == "DOC-8" else None)
        for i, v in enumerate(by_id.values())
    ]
    t = Trace(of.id, [SessionTrace(events)])
    assert outcome("DOC-8", of, t) == ("pass", "")
    assert outcome("DOC-17", of, t) == ("fails silently", "invalid")
