"""The tables: what they cover, what they cost, and what of them is offered."""

from __future__ import annotations

import dataclasses
import json
from importlib import resources
from typing import Any

import pytest

from midepoch_conformance.case.adapter import EXTRAS, Execution, LoaderInfo, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step, has_workers
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.notation import parse, show
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import KINDS, Workload
from midepoch_conformance.families import covering, tables
from midepoch_conformance.families.crossed import crossed
from midepoch_conformance.families.family import FAMILIES, LANED, family
from midepoch_conformance.families.offered import cases_for, reason_not_offered
from midepoch_conformance.judges import REGISTRY
from midepoch_conformance.verdict.format.published import resume, vectors

QUICK = tables.load_table("quick")
FULL = tables.load_table("full")
IN_ORDER = tuple(extra for extra in EXTRAS if extra != "unordered states")

EVERYTHING = Offer(
    kinds=KINDS,
    workers=(0, 1, 2, 3, 5),
    draws=("own", "python", "numpy", "torch", *GENERATORS),
    extras=tuple(EXTRAS),
    codecs=("pickle", "torch", "json", "bytes"),
    fixed_plan=KINDS,
    start_methods=("fork", "spawn"),
    worker_kinds=("process", "thread"),
    orders=(True, False),
    tails=("keep", "drop", "rollover"),
    intervals=(1, 2, 3, 100),
    persistent=(False, True),
)
TABLES = pytest.mark.parametrize(("profile", "table"), [("quick", QUICK), ("full", FULL)])


# One test for both, as generating the full table takes about 10 s of processor time.
@TABLES
def test_the_committed_table_is_the_generated_one_and_covers_what_it_says(
    profile: str, table: list[Case]
) -> None:
    file = resources.files("midepoch_conformance.families") / "cases" / f"{profile}.jsonl"
    assert file.read_text("ascii") == tables.dumps(tables.generate(profile)), (
        "the tables are stale: python -m midepoch_conformance.families.tables --write"
    )
    ids = {c.id for c in table}
    for part in tables.tables(profile):
        assert covering.uncovered(part.rows, part.chosen, part.groups) == set()
        made = [tables.case_of(row) for row in part.chosen]
        assert {c.id for c in made if c is not None} <= ids


@TABLES
def test_each_case_is_there_once_and_reads_back(profile: str, table: list[Case]) -> None:
    assert len({c.id for c in table}) == len(table)
    for c in table:
        assert Case.from_json(json.loads(json.dumps(c.to_json()))) == c


@TABLES
def test_every_family_and_every_judge_has_cases(profile: str, table: list[Case]) -> None:
    probes = {c.probe for c in table}
    left_out = {f.name for f in FAMILIES.values() if "left out" in f.quick}
    assert probes == set(FAMILIES) - (left_out if profile == "quick" else set())
    for judge in REGISTRY.values():
        assert probes & set(judge.families), judge.requirement
    assert {family for judge in REGISTRY.values() for family in judge.families} >= set(FAMILIES)


def test_budgets() -> None:
    """What a loader that offers everything but the format has to play."""
    for table, inline, multi in ((QUICK, 858, 343), (FULL, 2260, 978)):
        played = [c for c in table if reason_not_offered(c, EVERYTHING) is None]
        count = sum(map(has_workers, played))
        assert count <= multi
        assert len(played) - count <= inline


def test_families_are_crossed_with_what_they_do_not_vary() -> None:
    """With live workers, threads and large rows, where the family's workers are plain."""
    held = parse("held: workers=2; take 2, close, count")
    made = [show(case) for case in crossed("full", [held])]
    assert made == [
        "held: workers=2 persistent=true prefetch=1; take 2, close, count",
        "held: workers=2 worker_kind=thread; take 2, close, count",
        "held: width=16384 workers=2 persistent=true prefetch=1; take 2, close, count",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("held: take 2", 0),  # no workers
        ("cut: workers=2 worker_kind=thread persistent=true; drain", 1),  # large rows are left
        ("killed worker: workers=2 die_at=3; drain", 2),  # nobody kills a thread
        ("killed worker: workers=2; take 2, lose, drain", 2),
        ("lost twice: workers=2 exits_at=[4]; drain", 2),
        ("caught: kind=stateful_map workers=2 fail_at=1; drain?", 2),  # its rows tell the order
        ("failing collate: workers=2 fail_at=1 fails_in=collate_fn; drain", 2),
        ("own values: workers=2 draws=[own]; drain", 2),
    ],
)
def test_a_crossed_case_still_asks_what_its_family_asks(text: str, count: int) -> None:
    assert len(list(crossed("full", [parse(text)]))) == count


@TABLES
def test_a_session_differs_from_its_neighbour_in_its_surroundings(
    profile: str, table: list[Case]
) -> None:
    same = {
        "workers",
        "execution",
        "work workers",
        "set and left",
        "work left early",
        "work execution",
        "payloads",
    }  # uninterrupted runs, with equal surroundings on purpose
    for c in table:
        if c.probe == "after a refusal" and c.workload.adopts:
            continue  # the loader draws its seed from its surroundings
        for one, other in zip(c.sessions, c.sessions[1:], strict=False):
            assert one.host != other.host
            assert (one.ambient != other.ambient) is (c.probe not in same)


@TABLES
def test_states_are_loaded_after_they_are_saved(profile: str, table: list[Case]) -> None:
    for c in table:
        known: set[str] = set()
        for step in (s for plan in c.sessions for s in plan.steps):
            if step.do in ("save", "seal"):
                known.add(step.into or step.state)
            elif step.do in ("load", "load_cut", "edit"):
                assert step.state in known


@TABLES
def test_intervals_are_left_alone_but_where_they_are_asked_about(
    profile: str, table: list[Case]
) -> None:
    asked = {"interval", "execution", "changed execution", "calls", "work interval"}
    asked |= {
        "calls of lanes",
        "program",
        "fetched again",
        "healed",
        "caught",
        "caught again",
        "caught and healed",
        "caught in collate",
        "document reload",
        "document reload after an error",
        "work tree in place",
        "interrupted",
        "work interrupted",
        "failed replay",
        "history of dealt ranks",
        "other plan",
    }
    for c in table:
        if any(s.execution.interval != 1 for s in c.sessions):
            assert c.probe in asked


def test_lanes_are_fixed_for_iterables_with_workers() -> None:
    for c in FULL:
        first = c.sessions[0].execution
        if c.workload.kind in LANED and first.workers:
            lanes = {s.execution.lanes for s in c.sessions}
            if c.probe == "other plan" and not c.sessions[1].workload:
                assert lanes in ({2, 3}, {2, 1})  # the lanes are the other plan
                continue
            if dict(c.sessions[-1].workload).get("adopts"):
                lanes.discard(None)  # the loader takes the number from the state
            expected = None if c.probe == "changed workers" else first.lanes
            assert lanes == {expected}


def test_the_oracle_is_the_first_session_without_interruption() -> None:
    w = Workload(n=7, epochs=3, fail_at=2, log="auto", tree="plain", gate=(0, 4), shuffle=True)
    first = SessionPlan(Execution(workers=2), (Step("take", 1), Step("save", state="s")), 5, "b")
    oracle = oracle_case(Case("cut", w, (first, SessionPlan(Execution(), ()))))
    assert oracle.workload == dataclasses.replace(w, fail_at=None, log=None, tree="", gate=None)
    (session,) = oracle.sessions
    assert (session.execution, session.ambient, session.host) == (first.execution, 5, "a")
    assert session.steps == (Step("drain"),) * 3


def test_an_unknown_profile_is_named() -> None:
    with pytest.raises(tables.TableError, match="unknown profile 'slow'; one of quick, full"):
        tables.load_table("slow")


def one(probe: str, **values: object) -> Case:
    """Return a case of the full table."""
    for c in FULL:
        x = c.sessions[0].execution
        have = {"kind": c.workload.kind, "workers": x.workers, "tail": c.workload.tail}
        have |= {"shuffle": c.workload.shuffle, "draws": c.workload.draws}
        have |= {"sessions": len(c.sessions)}
        if c.probe == probe and values.items() <= have.items():
            return c
    raise AssertionError(f"no case of {probe!r} with {values}")


@pytest.mark.parametrize(
    ("c", "offer", "reason"),
    [
        (one("plain", kind="iterable"), {"kinds": ("map",)}, "iterable workloads are not"),
        (one("plain", tail="drop"), {"tails": ("keep",)}, "tail='drop' is not offered"),
        (one("cut", shuffle=True), {"shuffles": (False,)}, "shuffle=True is not offered"),
        (one("cut", workers=3), {"workers": (0, 1), "extras": ()}, "3 workers are not offered"),
        (one("cut"), {"saves": ()}, "no state can be taken"),
        (one("cut"), {"saves": ("end",)}, "no state can be taken inside an epoch"),
        (one("start"), {"saves": ("mid",)}, "no state can be taken before the first batch"),
        (one("end seen"), {"saves": ("mid",)}, "no state can be taken at the end of an epoch"),
        (one("own values"), {"draws": ()}, "samples do not draw from 'own' here"),
        (one("interval"), {"intervals": None}, "a snapshot interval of"),
        (one("break"), {"boundary": "stream"}, "all epochs are one stream"),
        (one("work break"), {"boundary": "stream"}, "all epochs are one stream"),
        (one("set and left"), {"boundary": "stream"}, "all epochs are one stream"),
        (one("cut"), {"boundary": "infinite"}, "its iteration never ends"),
        (one("elastic"), {"fixed_plan": ()}, "the plan cannot be held fixed"),
        (one("changed workers"), {}, "the plan can be held fixed"),
        (one("document"), {}, "it does not implement midepoch's own format"),
        (one("failing sample"), {"name": "own"}, "the suite does not know them"),
        (one("rollover"), {"tails": ("keep",)}, "tail='rollover' is not offered"),
        (one("unordered"), {"orders": (True,)}, "delivery out of order is not offered"),
        (
            one("unordered", sessions=2),
            {"extras": IN_ORDER},
            "states where batches come out of order",
        ),
        (one("unordered elastic"), {"fixed_plan": ()}, "the plan cannot be held fixed"),
        (one("thread values"), {"worker_kinds": ("process",)}, "thread workers are not offered"),
        (one("healed"), {"extras": ()}, "workers that are replaced when they die"),
    ],
)
def test_what_is_not_offered_has_a_reason(c: Case, offer: dict[str, object], reason: str) -> None:
    found = reason_not_offered(c, dataclasses.replace(EVERYTHING, **offer))  # type: ignore[arg-type]
    assert found is not None
    assert found.startswith(reason) or reason in found


def test_a_reason_of_the_adapter_comes_first() -> None:
    offer = dataclasses.replace(EVERYTHING, kinds=("map",), reasons={"iterable": "no streams"})
    assert reason_not_offered(one("plain", kind="iterable"), offer) == "no streams"


def test_a_function_plays_what_differs_in_its_size_alone_once() -> None:
    sizes = ((13, 4), (16, 1), (16, 0))
    steps = ((Step("take", n=1),), (Step("take", n=2),))
    asked = [
        Case("cut", Workload(n=n, batch_size=size), (SessionPlan(Execution(), taken),))
        for taken in steps
        for n, size in sizes
    ]
    loader = LoaderInfo("any", "1", "3", "linux", {}, Offer())
    assert cases_for(loader, [*asked, *asked]) == asked
    function = dataclasses.replace(loader, function=True)
    assert cases_for(function, [*asked, *asked]) == [asked[0], asked[2], asked[3], asked[5]]


def test_an_only_start_method_is_as_good_as_any() -> None:
    offer = dataclasses.replace(EVERYTHING, start_methods=("spawn",))
    assert reason_not_offered(one("cut", workers=2), offer) is None
    changed = next(
        c
        for c in FULL
        if c.probe == "execution" and c.sessions[1].execution.start_method == "spawn"
    )
    assert reason_not_offered(changed, offer) == "spawn is its only start method"


def test_implementers_of_the_format_are_offered_all_of_it() -> None:
    offer = dataclasses.replace(EVERYTHING, formats=("midepoch",))
    for c in FULL:
        if FAMILIES[c.probe].section == "format":
            assert reason_not_offered(c, offer) is None


@pytest.mark.parametrize(
    ("extra", "asked"),
    [
        ("adoption", {v.name for v in vectors("resumes") if "seed" not in v.data["loader"]}),
        ("replay checks", {"cursor-checked", "faulty-checked", "content-of-other-samples"}),
    ],
)
def test_some_published_states_are_for_loaders_that_offer_more(extra: str, asked: set[str]) -> None:
    extras = tuple(other for other in EXTRAS if other != extra)
    offer = dataclasses.replace(EVERYTHING, formats=("midepoch",), extras=extras)
    for table in (QUICK, FULL):
        published = (c for c in table if c.probe.startswith("published "))
        left = [c for c in published if reason_not_offered(c, offer) is not None]
        assert {c.sessions[0].steps[0].value for c in left} == asked
    assert len(asked) == 3


def test_lanes_that_a_published_resume_does_not_give_are_not_given() -> None:
    for c in (c for c in FULL if c.probe == "published resume"):
        step, x = c.sessions[0].steps[0], c.sessions[0].execution
        assert x.lanes == resume(step.value).data["loader"].get("lanes")
        assert c.workload.adopts or x.lanes is not None


def test_covering_is_deterministic_and_small() -> None:
    rows = [{"a": a, "b": b, "c": c} for a in range(4) for b in range(3) for c in range(3)]
    groups = [("a", "b"), ("a", "c"), ("b", "c")]
    chosen = covering.cover(rows, groups)
    assert chosen == covering.cover(rows, groups)
    assert len(chosen) <= 15
    assert covering.uncovered(rows, [rows[i] for i in chosen], groups) == set()
    assert covering.uncovered(rows, [rows[i] for i in chosen[1:]], groups)


@pytest.mark.parametrize(
    ("plan", "shape", "tail"),
    [
        ("more samples", (16, 4), "keep"),
        ("dropped", (13, 4), "drop"),
        ("shuffled", (13, 4), "keep"),
    ],
)
def test_a_change_of_the_plan_that_changes_nothing_is_no_case(
    plan: str, shape: tuple[int, int], tail: str
) -> None:
    row = {"family": "other plan", "kind": "map", "plan": plan}
    other = {"shape": (13, 4), "tail": "keep", "shuffle": plan != "shuffled"}
    assert tables.case_of({**row, **other}) is not None
    assert tables.case_of({**row, "shape": shape, "tail": tail, "shuffle": True}) is None


@TABLES
def test_each_field_of_the_plan_differs_in_some_load(profile: str, table: list[Case]) -> None:
    changes = [c.sessions[1].workload for c in table if c.probe == "other plan"]
    fields = {name for change in changes for name, _ in change}
    assert fields - {"adopts"} == {"batch_size", "n", "shuffle", "seed", "tail", "kind", "sampler"}
    plans = [c.sessions for c in table if c.probe == "other plan"]
    lanes = {(a.execution.lanes, b.execution.lanes) for a, b in plans}
    assert {(2, 3), (2, 1)} <= lanes


@TABLES
def test_each_published_vector_is_played(profile: str, table: list[Case]) -> None:
    steps = [s for c in table for plan in c.sessions for s in plan.steps if s.do == "load_document"]
    played = {step.value for step in steps}
    published = [v for folder in ("resumes", "invalid") for v in vectors(folder)]
    # No loader of the suite's is told what identifies its data.
    assert {v.name for v in published if v.plan["data"] is None} <= played
    orders = {c.workload.n for c in table if c.probe == "published order"}
    epochs = {c.workload.seed for c in table if c.probe == "published epochs"}
    sizes = {int(v.data["n"]) for v in vectors("order") if "orders" in v.data}
    # The shuffled order of no samples is refused by torch's loaders, and by the reference; a state
    # has no place for longer ones (FIELD-2).
    assert orders == {n for n in sizes if 0 < n < 2**53}
    assert epochs == {int(v.data["root"]) for v in vectors("epochs") if v.data["length"] != "0"}


@TABLES
def test_documents_show_each_of_their_parts(profile: str, table: list[Case]) -> None:
    """States of custom samplers, carried samples, batches ahead and map-style lanes are there."""
    shown = [c for c in table if c.probe in REGISTRY["DOC-1"].families]
    saved = [c for c in shown if any(s.do == "save" for p in c.sessions for s in p.steps)]
    assert {"custom", "stateful", "batches"} <= {c.workload.sampler for c in saved}
    assert any(c.workload.tail == "rollover" for c in saved)
    assert any(c.workload.gate and not c.sessions[0].execution.in_order for c in saved)
    assert any(c.workload.kind == "stateful_map" for c in saved)


@TABLES
def test_states_are_looked_at_after_a_load_too(profile: str, table: list[Case]) -> None:
    for family_name, action in (("sealed late", "seal"), ("edited after save", "edit")):
        found = [c for c in table if c.probe == family_name]
        loaded = [p for c in found for p in c.sessions if p.steps[0].do == "load"]
        assert any(step.do == action for plan in loaded for step in plan.steps), family_name


def test_a_family_of_a_known_name_is_refused() -> None:
    with pytest.raises(ValueError, match="two families are named 'cut'"):
        family("cut", section="basics")(lambda cell: None)


@pytest.mark.parametrize("fact", [{"section": "?"}, {"needs": ("?",)}, {"quick": ("?",)}])
def test_an_unknown_fact_of_a_family_is_refused(fact: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown facts of family 'new'"):
        family("new", **({"section": "basics"} | fact))
    assert "new" not in FAMILIES
