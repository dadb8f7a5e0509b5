"""Histories whose number of ranks changes: drawn, judged, and made smaller."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
import traceability
from test_strategies import OFFER
from warm_hosts import TORCH, WarmHosts
from written import found, trace

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import OF_STAGES, Case, CaseError, Step, has_workers
from midepoch_conformance.case.notation import parse_sessions
from midepoch_conformance.case.stages import (
    Cut,
    Part,
    Stage,
    cuts_of,
    parts_of,
    staged,
    stages_of,
)
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.families.tables import load_table
from midepoch_conformance.judges import applicable
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.explore import draw_round
from midepoch_conformance.search.ranks import BUDGETS, draw_rank_histories
from midepoch_conformance.search.shrink import shrink, size, smaller, sound
from midepoch_conformance.search.steering import Steering
from midepoch_conformance.verdict.finding import FAILURES, Finding

OF_RANKS, OF_DEALT_RANKS, OF_CUT_RANKS = OF_STAGES
SHARED = Workload(n=8, batch_size=2, ranks="shared")
CUT = Workload(n=8, batch_size=3, ranks="cut anew")
DEALT = Workload("iterable", n=9, batch_size=1, ranks="dealt")


def stages(*texts: str, lanes: int | None = None) -> list[Stage]:
    plans = parse_sessions(" | ".join(texts), Execution(lanes=lanes))
    sizes = [dict(plan.workload).get("batch_size", 0) for plan in plans]
    return [Stage(p.execution, p.steps, size) for p, size in zip(plans, sizes, strict=True)]


def worlds(case: Case) -> list[int]:
    return [stage.execution.world for stage in stages_of(case)]


@pytest.fixture(scope="module", name="drawn")
def histories_of_quick() -> list[Case]:
    return draw_rank_histories("quick", OFFER, seed=1)


def test_the_same_offer_and_seed_give_the_same_histories(drawn: list[Case]) -> None:
    assert draw_rank_histories("quick", OFFER, seed=1) == drawn
    assert draw_rank_histories("quick", OFFER, seed=2) != drawn
    assert len(drawn) == sum(BUDGETS["quick"])
    assert 0 < sum(map(has_workers, drawn)) <= BUDGETS["quick"][1]


def test_all_are_sound_and_offered_and_change_their_ranks_each_time(drawn: list[Case]) -> None:
    for case in drawn:
        assert sound(case)
        assert reason_not_offered(case, OFFER) is None
        assert Case.from_json(case.to_json()) == case
        changes = [(stage.execution.world, stage.batch_size) for stage in stages_of(case)]
        assert all(one != other for one, other in itertools.pairwise(changes))
        sizes = {dict(plan.workload).get("batch_size") for plan in case.sessions[1:]}
        assert (len(sizes) > 1) is (case.probe == OF_CUT_RANKS)
    assert {case.probe for case in drawn} == {*OF_STAGES}
    often = [case for case in drawn if len(worlds(case)) > 2]
    assert {case.probe for case in often} == {*OF_STAGES}
    assert len(often) >= len(drawn) // 2
    assert {case.workload.kind for case in drawn} == set(OFFER.kinds)


def test_a_loader_has_those_that_its_adapter_offers() -> None:
    assert draw_rank_histories("quick", Offer(), seed=1) == []
    shared = draw_rank_histories("quick", Offer(extras=("world", "shared")), seed=1)
    assert {case.probe for case in shared} == {OF_RANKS}
    plain = tuple(extra for extra in OFFER.extras if extra != "cut anew")
    for offer in (
        dataclasses.replace(OFFER, extras=plain),
        dataclasses.replace(OFFER, formats=()),  # the order may follow from the batch size there
    ):
        drawn = draw_rank_histories("quick", offer, seed=1)
        assert {case.probe for case in drawn} == {OF_RANKS, OF_DEALT_RANKS}
    none = draw_rank_histories("quick", OFFER, 1, declines=lambda w, x: "no")
    assert none == []


def test_exploring_draws_them_too() -> None:
    steering = Steering(dataclasses.replace(OFFER, workers=(0,)))
    assert {case.probe for case in draw_round(steering, 1, 0)} > {OF_RANKS, OF_DEALT_RANKS}
    only = draw_round(steering, 1, 0, frozenset({"WORLD-10"}))
    assert {"history of dealt ranks", "merged ranks"} <= {case.probe for case in only}
    assert not any(case.probe == "history" for case in only)


def test_stages_are_followed_in_batches_of_one_rank_alone() -> None:
    found = stages("[world=2] take 1, save, take 1", "drain, take 2, save", "drain")
    assert parts_of(SHARED, found) == [
        [Part(0, 0, 2)],
        [Part(0, 1), Part(1, 0, 2)],
        [Part(1, 2)],
    ]
    found = stages("[world=2] take 2, save", "[world=4] take 1, save", "drain", lanes=4)
    assert parts_of(DEALT, found) == [[Part(0, 0, 4)], [Part(0, 4, 8)], [Part(0, 8)]]


@pytest.mark.parametrize(
    ("w", "texts"),
    [
        (CUT, ("take 3, save", "[batch_size=2] take 3, save", "drain")),
        (CUT, ("take 3, save", "[batch_size=9] drain, save", "drain")),
        (SHARED, ("take 5, save", "drain")),
        (SHARED, ("take 4, save", "drain")),
        (SHARED, ("take 1", "drain")),
        (SHARED, ("save, save", "drain")),
        (SHARED, ("take 1, break, save", "drain")),
        (DEALT, ("[world=2] take 5, save", "drain")),
    ],
)
def test_stages_ask_only_for_what_is_sure(w: Workload, texts: tuple[str, ...]) -> None:
    with pytest.raises(CaseError):
        (cuts_of if w is CUT else parts_of)(w, stages(*texts, lanes=4 if w is DEALT else None))


@pytest.mark.parametrize(
    ("tail", "rest", "later"),
    [
        ("keep", [[3, 4, 5, 6], [7, 0]], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("drop", [[3, 4, 5, 6]], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("rollover", [[3, 4, 5, 6]], [[7, 0, 1, 2], [3, 4, 5, 6]]),
    ],
)
def test_a_cut_goes_on_from_its_sample(
    tail: str, rest: list[list[int]], later: list[list[int]]
) -> None:
    w = dataclasses.replace(CUT, tail=tail)
    one, two = cuts_of(w, stages("take 1, save", "[world=2 batch_size=4] drain, drain"))
    assert one == [Cut(0, 0, [[(0, 0), (0, 1), (0, 2)]])]
    assert [(cut.epoch, cut.first) for cut in two] == [(0, 3), (1, 0)]
    assert [[[at for _, at in step] for step in cut.steps] for cut in two] == [rest, later]


def test_other_sessions_are_no_stages() -> None:
    case = staged(OF_RANKS, SHARED, stages("[world=2] take 1, save", "drain"))
    assert sound(case)
    assert not sound(dataclasses.replace(case, sessions=case.sessions[:-1]))
    assert not sound(dataclasses.replace(case, sessions=(case.sessions[0], *case.sessions[2:])))
    longer = dataclasses.replace(case.sessions[1], steps=(*case.sessions[1].steps, Step("drain")))
    others = (case.sessions[0], longer, *case.sessions[2:])
    assert not sound(dataclasses.replace(case, sessions=others))


def test_a_history_is_made_smaller_by_whole_stages() -> None:
    case = staged(
        OF_RANKS,
        Workload(n=24, batch_size=4, ranks="shared", shuffle=True),
        stages(
            "[world=4] drain, take 1, save", "[world=2] take 2, save, take 1",
            "[world=1] take 1, save", "[world=4] drain, drain",
        ),
    )  # fmt: skip
    assert all(sound(one) for one in smaller(case))
    finding = Finding("WORLD-5", "fails silently", "different")

    def fails(one: Case) -> Finding | None:
        changes = sum(a != b for a, b in itertools.pairwise(worlds(one)))
        return finding if changes >= 2 else None

    least = shrink(case, finding, fails, plays=200).case
    assert size(least) < size(case)
    assert len(worlds(least)) == 3
    assert sum(worlds(least)) <= 5
    assert not least.workload.shuffle


# The judges, on traces that are written by hand. The first session is that of one rank alone.

OF_SHARES = staged(OF_RANKS, SHARED, stages("[world=2] take 1, save", "take 1, save", "drain"))
SHARES = (["01|23|45|67."], ["0", ""], ["1", ""], ["", "23", ""], ["", "45|67."])
OF_LANES = staged(
    OF_DEALT_RANKS, DEALT, stages("[world=2] take 1, save", "take 2, save", "drain", lanes=4)
)
LANES = (["0|1|2|3|4|5|6|7|8."], ["0", ""], ["1", ""], ["", "2|3", ""], ["", "4|5|6|7|8."])


ROLLING = dataclasses.replace(CUT, tail="rollover")
OF_CUTS = staged(
    OF_CUT_RANKS,
    ROLLING,
    stages("take 1, save", "[batch_size=2] take 1, save", "[world=2 batch_size=4] drain, drain"),
)
ALONE = "|".join("01234567") + "."
ROLLED = ([ALONE] * 2, ["012", ""], ["", "34", ""], ["", ".", "56|12."], ["", ".", "70|34."])
"""The last three samples of the first epoch are no batch of four, and open the second one."""


def judged(case: Case, *texts: list[str]) -> tuple[str, str]:
    requirement = {OF_RANKS: "WORLD-5", OF_DEALT_RANKS: "WORLD-10", OF_CUT_RANKS: "WORLD-7"}
    finding = found(requirement[case.probe], case, trace(case, *texts), None)
    assert finding is not None
    return finding.outcome, finding.kind


DEALT_OTHERWISE = (SHARES[0], ["1", ""], ["0", ""], *SHARES[3:])
"""Each step has its samples, on other ranks than WORLD-3 asks for."""


@pytest.mark.parametrize(
    ("case", "texts"), [(OF_SHARES, SHARES), (OF_SHARES, DEALT_OTHERWISE), (OF_LANES, LANES)]
)
def test_stages_that_go_on_pass(case: Case, texts: tuple[list[str], ...]) -> None:
    assert judged(case, *texts) == ("pass", "")


@pytest.mark.parametrize(
    ("last", "outcome"), [("60", "pass"), ("6", "pass"), ("61", "fails silently")]
)
def test_the_last_step_may_be_filled_up_from_the_beginning(last: str, outcome: str) -> None:
    w = Workload(n=7, batch_size=4, ranks="shared")
    case = staged(OF_RANKS, w, stages("take 1, save", "[world=2] drain"))
    texts = ["0123|456."], ["0123", ""], ["", "45."], ["", f"{last}."]
    assert judged(case, *texts)[0] == outcome


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("45", "60", ("pass", "")),
        ("456", "0", ("pass", "")),  # uneven shares
        ("45", "6", ("pass", "")),
        ("45", "60123", ("pass", "")),  # WORLD-3 allows any number of samples
        ("4", "56", ("pass", "")),
        ("46", "50", ("pass", "")),  # on other ranks than WORLD-3 asks for
        ("45", "61", ("fails silently", "different")),
        ("45", "0", ("fails silently", "different")),
        ("45|6", "0", ("fails silently", "different")),
    ],
)
def test_the_last_step_is_compared_as_it_is_shared(
    first: str, second: str, wanted: tuple[str, str]
) -> None:
    w = Workload(n=7, batch_size=4, ranks="shared")
    case = staged(OF_RANKS, w, stages("take 1, save", "[world=2] drain"))
    texts = ["0123|456."], ["0123", ""], ["", f"{first}."], ["", f"{second}."]
    assert judged(case, *texts) == wanted


def test_values_of_a_last_step_that_is_shared_unevenly() -> None:
    w = Workload(n=7, batch_size=4, ranks="shared", draws=("own",))
    case = staged(OF_RANKS, w, stages("take 1, save", "[world=2] drain"))
    saved = ["0123:0.5|456:0.25."], ["0123:0.5", ""]
    assert judged(case, *saved, ["", "456:0.25."], ["", "0:0.75."]) == ("pass", "")
    other = judged(case, *saved, ["", "456:0.75."], ["", "0:0.75."])
    assert other == ("fails silently", "values")


def test_a_step_that_only_some_ranks_have_is_no_filling_up() -> None:
    """Grain's ElasticIterator ends so: each rank drops what is left of its own share."""
    w = Workload(n=9, batch_size=4, ranks="shared", tail="drop")
    case = staged(OF_RANKS, w, stages("take 1, save", "[world=4] drain"))
    texts = ["0123|4567."], ["0123", ""], ["", "4|8."], ["", "5."], ["", "6."], ["", "7."]
    assert judged(case, *texts)[0] == "fails silently"


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        ("2|4|6|8", "3|5|7", "pass"),
        ("2|4|6", "3|5|7", "pass"),  # RANK-16
        ("2|4", "3|5", "fails silently"),
        ("2|4|8", "3|5|7", "fails silently"),
        ("2|4|6", "3|5", "fails silently"),
    ],
)
def test_ranks_with_lanes_may_end_together(first: str, second: str, outcome: str) -> None:
    w = Workload("stateful_map", n=9, batch_size=1, ranks="dealt")
    lanes = stages("take 2, save", "[world=2] drain", lanes=4)
    case = staged(OF_DEALT_RANKS, w, lanes)
    texts = ["0|1|2|3|4|5|6|7|8."], ["0|1", ""], ["", f"{first}."], ["", f"{second}."]
    assert judged(case, *texts)[0] == outcome


@pytest.mark.parametrize(
    ("place", "text", "outcome"),
    [
        (0, ["!drain ValueError no"], "blocked"),
        (1, ["1", ""], "blocked"),
        (2, ["!take ValueError no"], "blocked"),
        (3, ["", "45", ""], "fails silently"),
        (3, ["!load ValueError not this"], "refused"),
        (4, ["", "23|45|67."], "fails silently"),
        (4, ["", "45."], "fails silently"),
    ],
)
def test_the_first_stage_that_goes_wrong_decides(place: int, text: list[str], outcome: str) -> None:
    texts = [*SHARES]
    texts[place] = text
    assert judged(OF_SHARES, *texts)[0] == outcome


@pytest.mark.parametrize(
    ("rests", "outcome"),
    [
        (("01|23|45|67.", "01|23|45|67."), "pass"),
        ((".", "01|23|45|67."), "blocked"),  # EPOCH-2 allows an empty epoch right after the load
        (("01|23|45.", "01|23|45|67."), "fails silently"),
    ],
)
def test_an_end_may_be_followed_by_an_empty_epoch(rests: tuple[str, str], outcome: str) -> None:
    w = Workload(n=8, batch_size=2, ranks="shared")
    case = staged(OF_RANKS, w, stages("[world=2] drain, save", "drain, drain"))
    alone = ["01|23|45|67."] * 3
    texts = alone, ["0|2|4|6.", ""], ["1|3|5|7.", ""], ["", *rests]
    finding = found("WORLD-5", case, trace(case, *texts), None)
    assert finding is not None
    assert finding.outcome == outcome


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ("4|5|6|7|8.", "pass"),
        ("4|5|6|7.", "fails silently"),
        ("4|5|7|6|8.", "fails silently"),
        ("2|4|5|6|7|8.", "fails silently"),
    ],
)
def test_each_lane_goes_on_after_two_changes(last: str, outcome: str) -> None:
    assert judged(OF_LANES, *LANES[:-1], ["", last])[0] == outcome


@pytest.mark.parametrize(
    ("place", "text", "outcome"),
    [
        (4, ["", ".", "70|34."], "pass"),
        (4, ["", "70|34.", "56|12."], "fails silently"),  # the other rank did not pass it over
        (4, ["", ".", "70."], "fails silently"),
        (4, ["", ".", "01|34."], "fails silently"),
        (4, ["!load ValueError not this"], "pass"),
        (4, ["", "!next ValueError not this"], "pass"),
        (2, ["", "45", ""], "fails silently"),
        (2, ["", "345", ""], "fails silently"),
        (1, ["123", ""], "blocked"),
        (0, ["012|345|67."] * 2, "blocked"),
    ],
)
def test_a_sequence_goes_on_after_two_cuts(place: int, text: list[str], outcome: str) -> None:
    texts = [*ROLLED]
    texts[place] = text
    assert judged(OF_CUTS, *texts)[0] == outcome


def test_an_epoch_with_less_than_a_batch_may_be_passed_over() -> None:
    later = ([*ROLLED[:3], ["", "56|12.", "."], ["", "70|34.", "."]], "pass")
    wrong = ([*ROLLED[:3], ["", "01|45.", "."], ["", "23|67.", "."]], "fails silently")
    for texts, outcome in (later, wrong):
        assert judged(OF_CUTS, *texts)[0] == outcome


@pytest.mark.parametrize(("kind", "outcome"), [("iterable", "pass"), ("stateful_map", "fail")])
def test_only_streams_lose_their_order_after_a_lanes_end(kind: str, outcome: str) -> None:
    w = Workload(kind, n=11, batch_size=1, ranks="dealt")
    lanes = stages("[world=2] take 1, save", "drain", lanes=4)
    case = staged(OF_DEALT_RANKS, w, lanes)
    texts = (["0|1|2|3|4|5|6|7|8|9|10."], ["0", ""], ["1", ""], ["", "2|3|4|5|6|7|8|10|9."])
    assert judged(case, *texts)[0].startswith(outcome)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("the_second_change_of_ranks_loses_a_step", "shared ranks resized"),
        ("the_second_merge_forgets_a_lane", "merged ranks"),
        ("the_second_cut_counts_equal_steps", "ranks cut anew"),
        ("carries_over_as_if_never_cut", "ranks cut anew"),
    ],
)
def test_only_a_second_change_shows_some_faults(
    name: str, others: str, warm_hosts: WarmHosts
) -> None:
    warm_hosts.modules = TORCH
    mutant = traceability.mutants()[name]
    quick = [case for case in load_table("quick") if case.probe == others]
    with Runner(f"{mutant.path}:Adapter") as runner:
        bench = Bench(runner)
        drawn = [
            case
            for case in draw_rank_histories("quick", bench.info.offer, 1)
            if mutant.expected in applicable(case) and len(worlds(case)) > 2
        ]

        def failing(cases: list[Case]) -> list[Case]:
            played = (bench.judge(case, number) for number, case in enumerate(cases))
            return [r.case for r in played if any(f.outcome in FAILURES for f in r.findings)]

        assert failing(quick) == []
        assert failing(drawn[:24])
