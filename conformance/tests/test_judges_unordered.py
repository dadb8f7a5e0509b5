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


def rolled(
    oracle: tuple[str, ...], *texts: list[str], requirement: str = "EPOCH-6"
) -> tuple[str, str, str]:
    """Return what is found: the outcome, the kind and the words."""
    of = case("rollover", "drain, save a", "load a, drain, drain, drain", workload=ROLLED)
    finding = found(requirement, of, trace(of, *texts), whole(*oracle))
    assert finding is not None
    return finding.outcome, finding.kind, finding.words


SAVED = ["0123.", ""]
GOOD_REST = ["", *(f"{epoch}." for epoch in RUN[1:])]


def test_what_is_left_over_opens_the_next_epoch() -> None:
    assert rolled(RUN, SAVED, GOOD_REST)[0] == "pass"
    assert rolled(RUN, SAVED, GOOD_REST, requirement="EPOCH-7")[0] == "pass"


@pytest.mark.parametrize(
    ("oracle", "opened", "counted"),
    [
        (("0123",) * 4, "missing: epoch 1 begins with 0, 1, 2; left over were 4, 5, 6", "missing"),
        (("0123|456",) * 4, "extra: epoch 0 has a batch of 3 samples", ""),
        (
            ("0123", "4560|1123", "4560|1234", "5601|2345"),
            "",
            "repeated: up to the end of epoch 1, 3 times sample 1",
        ),
        (
            ("0123", "4560", "1234", "5601"),
            "missing",
            "missing: up to the end of epoch 1, 6 samples are missing",
        ),
        (("0123", "7890|1234"), "missing", "repeated: up to the end of epoch 1, 1 times sample 7"),
    ],
)
def test_a_run_that_carries_nothing_or_too_much(
    oracle: tuple[str, ...], opened: str, counted: str
) -> None:
    first, *rest = (f"{epoch}." for epoch in oracle)
    for requirement, wanted in (("EPOCH-6", opened), ("EPOCH-7", counted)):
        outcome, kind, words = rolled(oracle, [first, ""], ["", *rest], requirement=requirement)
        assert f"{kind}: {words}".startswith(wanted), words
        assert outcome == ("fails silently" if wanted else "pass"), words


FEW = dataclasses.replace(ROLLED, n=1, batch_size=3)


@pytest.mark.parametrize(
    ("oracle", "opened", "counted"),
    [
        (("", "", "000", ""), "pass", "pass"),
        (("", "", "", "000"), "fails silently", "fails silently"),
        (("", "", "", ""), "fails silently", "fails silently"),
        (("000", "", "", "000"), "pass", "fails silently"),
    ],
)
def test_what_makes_no_batch_yet_is_carried_on(
    oracle: tuple[str, ...], opened: str, counted: str
) -> None:
    of = case("rollover", "drain, drain, drain, drain", workload=FEW)
    t = trace(of, [f"{epoch}." for epoch in oracle])
    for requirement, outcome in (("EPOCH-6", opened), ("EPOCH-7", counted)):
        finding = found(requirement, of, t, whole(*oracle))
        assert finding is not None
        assert finding.outcome == outcome, finding.words


def test_a_resume_that_loses_what_was_carried() -> None:
    texts = SAVED, ["", "0123.", "4560|1234.", "5601|2345."]
    outcome, _, words = rolled(RUN, *texts)
    assert outcome == "fails silently"
    assert words.startswith("epoch 1, batch 0")
    outcome, kind, words = rolled(RUN, *texts, requirement="EPOCH-7")
    assert (outcome, kind) == ("fails silently", "missing"), words


def test_a_resume_into_an_epoch_that_had_begun() -> None:
    of = case("rollover", "drain, take 1, save a", "load a, drain, drain", workload=ROLLED)
    first = ["0123.", "4560", ""]
    for rest, outcome in (("1234.", "pass"), ("4560|1234.", "fails silently")):
        finding = found("EPOCH-7", of, trace(of, first, ["", rest, "5601|2345."]), whole(*RUN))
        assert finding is not None
        assert finding.outcome == outcome, finding.words


def test_a_resume_in_another_order_carries_all_the_same() -> None:
    texts = SAVED, ["", "6540|3214.", "6501|2345.", "6012|3456."]
    assert rolled(RUN, *texts)[0] == "fails silently"
    assert rolled(RUN, *texts, requirement="EPOCH-7")[0] == "pass"


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
