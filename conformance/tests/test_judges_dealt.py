"""The judges of ranks to which lanes are dealt, on traces written by hand."""

from __future__ import annotations

import dataclasses

import pytest
from written import found, session, trace

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload

SEVEN = Workload("stateful_map", n=7, batch_size=1, ranks="dealt")
ALONE = ["0|1|2|3|4|5|6."] * 2
"""Seven batches on four lanes: of two ranks, the first one has a batch more than the other."""


def dealt(probe: str, *texts: str, workload: Workload = SEVEN) -> Case:
    """Write a case of one rank alone, and pairs of ranks that take equal steps."""
    plans = [session("drain, drain", 0, lanes=4)]
    for text in texts:
        for rank in range(2):
            steps = text.replace("{r}", str(rank))
            plans.append(session(steps, len(plans), rank=rank, world=2, lanes=4))
    return Case(probe, workload, tuple(plans))


def outcome(requirement: str, of: Case, *texts: list[str]) -> str:
    finding = found(requirement, of, trace(of, *texts), None)
    assert finding is not None
    return finding.outcome


DEALT = dealt("dealt ranks", "take 1, save s{r}, drain, drain")


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        (["0", "", "2|4|6.", "0|2|4|6."], ["1", "", "3|5.", "1|3|5."], "pass"),
        # All end before the first step for which one of them has no batch.
        (["0", "", "2|4.", "0|2|4."], ["1", "", "3|5.", "1|3|5."], "pass"),
        (["0", "", "2|4.", "0|2|4|6."], ["1", "", "3|5.", "1|3|5."], "pass"),
        (["0", "", "2.", "0|2|4."], ["1", "", "3.", "1|3|5."], "fails silently"),
        (["0", "", "2.", "0|2|4."], ["1", "", "3|5.", "1|3|5."], "fails silently"),
        (["0", "", "2|6.", "0|2|4."], ["1", "", "3|5.", "1|3|5."], "fails silently"),
        (["0", "", "2|4|6.", "0|2|4."], ["1", "", "3.", "1|3|5."], "fails silently"),
    ],
)
def test_ranks_may_end_an_epoch_together(first: list[str], second: list[str], wanted: str) -> None:
    assert outcome("WORLD-9", DEALT, ALONE, first, second) == wanted


@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("2|4|6.", "3|5.", "pass"),
        ("2|4.", "3|5.", "pass"),
        ("4|6.", "3|5.", "fails silently"),
        ("2.", "3.", "fails silently"),
    ],
)
def test_ranks_that_resume_may_end_an_epoch_together(first: str, second: str, wanted: str) -> None:
    of = dealt("merged ranks", "take 1, save s{r}", "load_merged s0/s1, drain, drain")
    later = "0|2|4.", "1|3|5."
    texts = ["0", ""], ["1", ""], ["", first, later[0]], ["", second, later[1]]
    assert outcome("WORLD-10", of, ALONE, *texts) == wanted


@pytest.mark.parametrize(
    ("first", "wanted"), [("0|2|6.", "pass"), ("0|2|2.", "fails silently"), ("0|2.", "fails")]
)
def test_streams_may_end_an_epoch_together_in_an_order_of_their_own(
    first: str, wanted: str
) -> None:
    w = Workload("iterable", n=7, batch_size=1, ranks="dealt")
    of = dealt("dealt ranks", "drain, drain", workload=w)
    texts = [first, "0|2|4|6."], ["1|3|5.", "1|3|5."]
    assert outcome("WORLD-9", of, ALONE, *texts).startswith(wanted)


@pytest.mark.parametrize("requirement", ["WORLD-9", "WORLD-10"])
def test_a_state_that_cannot_be_taken_is_a_matter_of_states(requirement: str) -> None:
    of = DEALT if requirement == "WORLD-9" else dealt("merged ranks", "load_merged s0/s1, save t")
    good = ["0", "", "2|4|6.", "0|2|4|6."] if requirement == "WORLD-9" else ["", ""]
    lost = "!state RuntimeError no state here"
    texts = [good, ["1", lost]] if requirement == "WORLD-9" else [good, ["", lost]]
    wanted = "blocked" if requirement == "WORLD-9" else "fails"
    assert outcome(requirement, of, ALONE, *texts) == wanted


UNEVEN = Case(
    "uneven lanes in a group",
    Workload("iterable", n=7, batch_size=1, ranks="dealt"),
    tuple(
        session(text, number, world=2, together=True, lanes=4)
        for number, text in enumerate(("take 1, save s, drain, drain", "load s, drain, drain"))
    ),
)
"""The lanes 0 to 2 have two samples, and lane 3 has one."""
EVEN = (["01", "", "23|45.", "01|23|45."], ["", "23|45.", "01|23|45."])
APART = (["01", "", "23|45|6.", "01|23|45|6."], ["", "23|45|6.", "01|23|45|6."])
"""The first rank goes on alone."""


@pytest.mark.parametrize(
    ("place", "text", "wanted"),
    [
        (0, EVEN[0], "pass"),
        (0, ["01", "", "23|45|6.", "01|23|45."], "fails silently"),
        (0, ["01", "", "23.", "01|23|45."], "fails"),
        (0, ["01", "", "23!hang"], "fails"),
        (1, ["", "23|45|6.", "01|23|45."], "fails silently"),
        (1, ["", "45.", "01|23."], "fails"),
        (1, ["", "45.", "01|23|45."], "fails"),
        (1, ["", ".", "01|23|45."], "fails"),
        (1, ["!load ValueError no"], "fails"),
    ],
)
def test_ranks_end_an_epoch_with_the_first_of_them(
    place: int, text: list[str], wanted: str
) -> None:
    texts = [*EVEN]
    texts[place] = text
    assert outcome("WORLD-11", UNEVEN, *texts) == wanted


def test_a_group_whose_ranks_end_apart_is_not_asked() -> None:
    assert found("WORLD-11", UNEVEN, trace(UNEVEN, *APART), None) is None
    even = dataclasses.replace(UNEVEN, workload=dataclasses.replace(UNEVEN.workload, n=8))
    whole = ["01", "", "23|45|67.", "01|23|45|67."], ["", "23|45|67.", "01|23|45|67."]
    assert outcome("WORLD-11", even, *whole) == "pass"


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (1, ["", "23|45.", "01|23|45|6."]),  # one epoch ends together
        (1, ["", "23|45|6.", "01|23|4|6."]),  # a batch is lost
        (1, ["", "23|45|6.", "01|23."]),
    ],
)
def test_a_group_ends_all_its_epochs_alike(place: int, text: list[str]) -> None:
    texts = [*APART]
    texts[place] = text
    assert outcome("WORLD-11", UNEVEN, *texts).startswith("fails")
