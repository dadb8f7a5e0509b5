"""The judges of ranks that share each batch, on traces written by hand."""

from __future__ import annotations

import dataclasses

import pytest
from written import found, session, trace

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding

SIX = Workload(n=6, batch_size=4, epochs=1, ranks="shared")
DRAWING = Workload(n=8, batch_size=4, epochs=1, ranks="shared", draws=("own",))
ALONE = ["0123|45."]


def together(probe: str, world: int, *texts: str, workload: Workload = SIX) -> Case:
    """Write a case of one rank alone, those that save by ``texts``, and ``world`` ranks."""
    plans = [session("drain")]
    plans += [session(text, 1, rank=0, world=2) for text in texts[:-1]]
    plans += [session(texts[-1], 2 + r, rank=r, world=world) for r in range(world)]
    return Case(probe, workload, tuple(plans))


def judged(requirement: str, of: Case, *texts: list[str]) -> Finding:
    finding = found(requirement, of, trace(of, *texts), None)
    assert finding is not None
    return finding


TWO = together("shared ranks", 2, "drain")


@pytest.mark.parametrize(
    ("first", "second", "outcome", "kind"),
    [
        ("01|4.", "23|5.", "pass", ""),
        ("012|45.", "3|01.", "pass", ""),  # uneven shares, and a last batch that is filled up
        ("01|45.", "23|0.", "pass", ""),
        ("02|4.", "13|5.", "fails silently", "different"),
        ("23|5.", "01|4.", "fails silently", "different"),
        ("01|4.", "23|1.", "fails silently", "different"),
        ("01|4.", "23|50|1.", "fails silently", "different"),
        ("010|4.", "23|5.", "fails silently", "different"),
        ("01.", "23|5.", "fails silently", "different"),
    ],
)
def test_the_ranks_deliver_one_ranks_batches(
    first: str, second: str, outcome: str, kind: str
) -> None:
    finding = judged("WORLD-3", TWO, ALONE, [first], [second])
    assert (finding.outcome, finding.kind) == (outcome, kind), finding.words
    if outcome != "pass":
        assert "together" in finding.words
        assert finding.evidence is not None


def test_the_first_rank_with_another_share_is_shown() -> None:
    finding = judged("WORLD-3", TWO, ALONE, ["01|4."], ["23|1."])
    assert finding.evidence is not None
    assert finding.evidence.session == 2
    assert (finding.expected, finding.got) == ([[[2], [3]], [[5]]], [[[2], [3]], [[1]]])


def test_a_rank_that_fails_is_named() -> None:
    finding = judged("WORLD-3", TWO, ALONE, ["01|4."], ["23!next ValueError no"])
    assert finding.outcome == "fails"
    assert finding.words.startswith("rank 1 of 2: ")
    assert (
        judged("WORLD-3", TWO, ["!next ValueError no"], ["01|4."], ["23|5."]).outcome == "blocked"
    )


def test_a_missing_rank_blocks() -> None:
    of = dataclasses.replace(TWO, sessions=TWO.sessions[:2])
    assert judged("WORLD-3", of, ALONE, ["01|4."]).outcome == "blocked"


def test_all_ranks_deliver_equally_many_batches() -> None:
    assert judged("WORLD-8", TWO, ALONE, ["01|4."], ["23|5."]).outcome == "pass"
    finding = judged("WORLD-8", TWO, ALONE, ["01|45."], ["23."])
    assert (finding.outcome, finding.kind) == ("fails silently", "missing")
    assert "[2, 1] batches" in finding.words


RESUMED = together("shared ranks resized", 2, "take 1, save s", "load s, drain")


def test_another_number_of_ranks_goes_on() -> None:
    saved = ["01", ""]
    assert judged("WORLD-5", RESUMED, ALONE, saved, ["", "4."], ["", "5."]).outcome == "pass"
    lost = judged("WORLD-5", RESUMED, ALONE, saved, ["", "5."], ["", "."])
    assert lost.outcome == "fails silently"
    refused = ["!load ValueError other ranks"]
    assert judged("WORLD-5", RESUMED, ALONE, saved, refused, refused).outcome == "refused"
    unsaved = ["01", "!state ValueError none"]
    assert judged("WORLD-5", RESUMED, ALONE, unsaved, refused, refused).outcome == "blocked"


def test_samples_draw_the_same() -> None:
    of = together("draws of ranks", 2, "drain")
    alone = ["0123:0.5|45:0.5."]
    assert judged("WORLD-6", of, alone, ["01:0.5|4:0.5."], ["23:0.5|5:0.5."]).outcome == "pass"
    finding = judged("WORLD-6", of, alone, ["01:0.5|4:0.5."], ["23:0.5|5:0.7."])
    assert (finding.outcome, finding.kind) == ("fails silently", "values")


def test_only_what_a_resumed_sample_draws_is_a_matter_of_draws() -> None:
    """A refused or a wrong resume is one of WORLD-5."""
    of = together("draws of ranks", 2, "take 1, save s", "load s, drain", workload=DRAWING)
    texts = ["0123:0.5|4567:0.25."], ["01:0.5", ""]
    right = ["", "45:0.25."], ["", "67:0.25."]
    assert judged("WORLD-6", of, *texts, *right).outcome == "pass"
    other = judged("WORLD-6", of, *texts, right[0], ["", "67:0.5."])
    assert (other.outcome, other.kind) == ("fails silently", "values")
    over = ["", "01:0.5|45:0.25."], ["", "23:0.5|67:0.25."]
    assert judged("WORLD-6", of, *texts, *over).outcome == "blocked"
    refused = ["!load ValueError other ranks"]
    assert judged("WORLD-6", of, *texts, refused, refused).outcome == "blocked"
    unresumed = together("draws of ranks", 2, "drain", workload=DRAWING)
    swapped = ["23:0.5|67:0.25."], ["01:0.5|45:0.25."]
    assert judged("WORLD-6", unresumed, texts[0], *swapped).outcome == "fails silently"


@pytest.mark.parametrize(
    ("requirement", "outcome"),
    [("WORLD-3", "blocked"), ("WORLD-8", "blocked"), ("WORLD-4", "fails")],
)
def test_a_state_that_cannot_be_taken_is_a_matter_of_states(requirement: str, outcome: str) -> None:
    of = together("shared ranks", 2, "take 1, save s, drain")
    unsaved = ["23", "!state RuntimeError no state here"]
    assert judged(requirement, of, ALONE, ["01", "", "4."], unsaved).outcome == outcome


LARGER = (("batch_size", 6),)


@pytest.mark.parametrize("tail", ["keep", "drop"])
def test_batches_of_another_size_go_on_with_the_sequence(tail: str) -> None:
    w = Workload(n=8, batch_size=2, epochs=1, ranks="cut anew", tail=tail)
    of = together("ranks cut anew", 2, "take 1, save s", "load s, drain", workload=w)
    plans = (*of.sessions[:2], *(dataclasses.replace(p, workload=LARGER) for p in of.sessions[2:]))
    of = dataclasses.replace(of, sessions=plans)
    alone, saved = ["01|23|45|67."], ["0", ""]
    assert judged("WORLD-7", of, alone, saved, ["", "234."], ["", "567."]).outcome == "pass"
    assert judged("WORLD-7", of, alone, saved, ["", "345."], ["", "670."]).kind == "different"
    assert judged("WORLD-7", of, alone, saved, ["", "234."], ["", "456."]).kind == "repeated"
    short = judged("WORLD-7", of, alone, saved, ["", "23."], ["", "45."])
    assert short.outcome == ("fails silently" if tail == "keep" else "pass")
    refused = ["!load ValueError other batches"]
    assert judged("WORLD-7", of, alone, saved, refused, refused).outcome == "pass"


def test_states_of_the_ranks_are_compared_whole() -> None:
    of = together("shared ranks", 2, "take 1, save s, drain")
    played = trace(of, ALONE, ["01", "", "4."], ["23", "", "5."])
    assert found("WORLD-4", of, played, None) is None  # no documents
    for at, batches in ((1, 1), (2, 1)):
        played.sessions[at].events[1].document = {"position": {"batches": batches}}
    finding = found("WORLD-4", of, played, None)
    assert finding is not None
    assert finding.outcome == "pass"
    played.sessions[2].events[1].document = {"position": {"batches": 2}}
    finding = found("WORLD-4", of, played, None)
    assert finding is not None
    assert (finding.outcome, finding.kind) == ("fails", "different")
    assert "ranks 0 and 1 differ in position" in finding.words


# Ranks of a process group, which one session plays together.

IN_TWOS = Workload(n=6, batch_size=2, ranks="shared", adopts=True)
GROUP = Case(
    "process group",
    IN_TWOS,
    (
        session("take 1, save s, drain, drain", 0, world=2, together=True),
        session("load s, drain, drain", 1, together=True),
        session("load s, drain?", 2, world=2, together=True),
        session("load s, drain, drain", 3, world=2, together=True),
    ),
)
GROUPS = (
    ["40", "", "15|32.", "20|41|53."],
    ["", "15|32.", "20|41|53."],
    ["", "15!next EOFError"],
    ["", "15|32.", "20|41|53."],
)
ALIKE, NO_END = ["", "15|32.", "20|41|53."], ["", "15!hang"]


@pytest.mark.parametrize(
    ("place", "text", "of_one", "of_others"),
    [
        (0, GROUPS[0], "pass", "pass"),
        (0, ["40", "", "15|42.", "20|41|53."], "fails silently", "pass"),
        (0, ["40", "", "15|32.", "20|41."], "fails silently", "pass"),
        (0, ["!take RanksError no"], "fails", "blocked"),
        (1, ["!load ValueError no"], "blocked", "blocked"),
        # One rank alone starts over, skips a batch, or loads nothing.
        (1, ["", "40|15|32.", "20|41|53."], "blocked", "fails silently"),
        (1, ["", "32.", "20|41|53."], "blocked", "fails silently"),
        (1, ["", ".", "."], "blocked", "fails silently"),
        (1, ["", "32|15.", "20|41|53."], "fails silently", "fails silently"),
        (2, ["", "15|32."], "pass", "pass"),
        (2, NO_END, "pass", "fails"),
        (3, ["", "32|15.", "20|41|53."], "pass", "fails silently"),
        (3, ["!load ValueError no"], "pass", "refused"),
    ],
)
def test_ranks_of_a_group_go_on_as_one_alone(
    place: int, text: list[str], of_one: str, of_others: str
) -> None:
    texts = [*GROUPS]
    texts[place] = text
    assert judged("WORLD-3", GROUP, *texts).outcome == of_one
    assert judged("WORLD-5", GROUP, *texts).outcome == of_others


def test_a_group_whose_own_epoch_is_not_whole_is_wrong_itself() -> None:
    texts = [["42", "", "15|32.", "20|41|53."], ["", "05|32.", "20|41|53."], *GROUPS[2:]]
    assert judged("WORLD-3", GROUP, *texts).outcome == "fails silently"


def test_a_wrong_resume_of_a_rank_alone_is_shown_beside_the_group() -> None:
    finding = judged("WORLD-5", GROUP, GROUPS[0], ["", "40|15|32.", "20|41|53."], *GROUPS[2:])
    assert finding.evidence == Evidence("batches", 1, run=(0, 1, None), other=0)
    assert finding.expected == [[[1], [5]], [[3], [2]]]


def test_without_a_rank_alone_nothing_is_compared() -> None:
    of = dataclasses.replace(GROUP, sessions=(GROUP.sessions[0], GROUP.sessions[3]))
    assert judged("WORLD-3", of, GROUPS[0], GROUPS[3]).outcome == "blocked"
