"""The judges of batches that come out of order, and of those that roll over, on written traces."""

from __future__ import annotations

import dataclasses

import pytest
import written
from written import SIX, case, check, found, trace, whole

from midepoch_conformance.case.workload import Workload

LINKS = ("take 1, save a", "load a, take 1, save b", "load b, drain, drain")
TWO = ["", "01|23|45."]


@pytest.mark.parametrize(
    ("first", "second", "third", "outcome", "kind"),
    [
        (["23", ""], ["", "45", ""], ["", "01.", "45|01|23."], "pass", ""),
        (["23", ""], ["", "01", ""], ["", "45.", "45|23|01."], "pass", ""),
        (["23", ""], ["", "23", ""], ["", "45.", "01|23|45."], "fails silently", "repeated"),
        (["23", ""], ["", "45", ""], ["", ".", "01|23|45."], "fails silently", "missing"),
        (["23", ""], ["", "45", ""], ["", "01.", "23|45."], "fails silently", "missing"),
        (["23", ""], ["", "45", ""], ["!load ValueError out of order"], "refused", ""),
        (["23", ""], ["", "45", ""], ["", "!next KeyError 'ahead'"], "fails", "bare error"),
        (["23", ""], ["", "45", ""], ["", "!hang next"], "fails", "hang"),
        (["23", ""], [], [], "blocked", ""),
    ],
)
def test_each_sample_once_over_two_resumes(
    first: list[str], second: list[str], third: list[str], outcome: str, kind: str
) -> None:
    texts = tuple(text for text in (first, second, third) if text)
    w = dataclasses.replace(SIX, epochs=2)
    check("UNORD-1", "unordered", LINKS, texts, outcome, kind, workload=w)


def test_without_a_resume_too() -> None:
    w = dataclasses.replace(SIX, epochs=2)
    texts = (["45|01|23.", "01|45|45."],)
    words = "epoch 1: [0 1] [4 5] [4 5]: samples 4, 5 come twice"
    check("UNORD-1", "unordered", ("drain, drain",), texts, "fails silently", "repeated", words,
          workload=w)  # fmt: skip


ROLLED = Workload(n=7, batch_size=4, epochs=4, tail="rollover")
# Six carried samples in all: 456, 23, 0 and then 6.
RUN = ("0123", "4560|1234", "5601|2345", "6012|3456")


def rolled(oracle: tuple[str, ...], *texts: list[str]) -> tuple[str, str, str]:
    """Return what is found: the outcome, the kind and the words."""
    of = case("rollover", "drain, save a", "load a, drain, drain, drain", workload=ROLLED)
    finding = found("EPOCH-6", of, trace(of, *texts), whole(*oracle))
    assert finding is not None
    return finding.outcome, finding.kind, finding.words


SAVED = ["0123.", ""]
GOOD_REST = ["", *(f"{epoch}." for epoch in RUN[1:])]


def test_what_is_left_over_opens_the_next_epoch() -> None:
    assert rolled(RUN, SAVED, GOOD_REST)[0] == "pass"


@pytest.mark.parametrize(
    ("oracle", "kind", "words"),
    [
        (("0123", "0123", "0123", "0123"), "missing", "left over were 4, 5, 6"),
        (("0123|456", "0123|456", "0123|456", "0123|456"), "extra", "a batch of 3 samples"),
        (("0123", "4560|1123", "4560|1234", "5601|2345"), "repeated", "sample 1 comes twice"),
        (("0123", "4560", "1234", "5601"), "missing", "after what it was carried"),
    ],
)
def test_a_run_that_carries_nothing_or_too_much(
    oracle: tuple[str, ...], kind: str, words: str
) -> None:
    first, *rest = (f"{epoch}." for epoch in oracle)
    outcome, found_kind, said = rolled(oracle, [first, ""], ["", *rest])
    assert (outcome, found_kind) == ("fails silently", kind), said
    assert words in said


FEW = dataclasses.replace(ROLLED, n=1, batch_size=3)


@pytest.mark.parametrize(
    ("oracle", "outcome"),
    [
        (("", "", "000", ""), "pass"),
        (("", "", "", "000"), "fails silently"),
        (("", "", "", ""), "fails silently"),
        (("000", "", "", "000"), "fails silently"),
    ],
)
def test_what_makes_no_batch_yet_is_carried_on(oracle: tuple[str, ...], outcome: str) -> None:
    of = case("rollover", "drain, drain, drain, drain", workload=FEW)
    finding = found("EPOCH-6", of, trace(of, [f"{epoch}." for epoch in oracle]), whole(*oracle))
    assert finding is not None
    assert finding.outcome == outcome, finding.words


def test_a_resume_that_loses_what_was_carried() -> None:
    outcome, _, words = rolled(RUN, SAVED, ["", "0123.", "4560|1234.", "5601|2345."])
    assert outcome == "fails silently"
    assert words.startswith("epoch 1, batch 0")


def test_another_tail_is_no_matter_of_rollover() -> None:
    of = case("rollover", "drain", workload=dataclasses.replace(ROLLED, tail="keep"))
    assert found("EPOCH-6", of, trace(of, ["0123|456."]), whole("0123|456")) is None


DYING = dataclasses.replace(SIX, die_at=4, die_once=True, log="auto")
HEALED = ("drain, take 1, save s", "load s, drain")
FIRST = [f"{written.FIRST}.", "53", ""]


@pytest.mark.parametrize(
    ("first", "second", "died", "outcome", "kind"),
    [
        (FIRST, ["", "41|20."], 1, "pass", ""),
        (["01|45.", "53", ""], ["", "41|20."], 1, "fails silently", "missing"),
        (["01|01|23|45.", "53", ""], ["", "41|20."], 1, "fails silently", "repeated"),
        (["01!next RuntimeError worker 0 died"], [], 1, "fails", "late error"),
        (FIRST, ["", "53|41|20."], 1, "fails silently", "repeated"),
        (FIRST, ["", "41|20."], 0, None, ""),
    ],
)
def test_a_worker_that_is_replaced(
    first: list[str], second: list[str], died: int, outcome: str | None, kind: str
) -> None:
    of = case("healed", *HEALED, workload=DYING, workers=2, restarts=1)
    t = trace(of, *([first, second] if second else [first]))
    t.sessions[0].events[0].calls = {"die": died}
    finding = found("FAULT-8", of, t)
    assert (finding and finding.outcome) == outcome, finding
    assert finding is None or finding.kind == kind, finding.words


def test_without_restarts_nobody_is_replaced() -> None:
    of = case("healed", *HEALED, workload=DYING, workers=2)
    assert found("FAULT-8", of, trace(of, ["01!next RuntimeError worker 0 died"])) is None
