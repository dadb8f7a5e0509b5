"""Differences, their kinds and their words."""

from __future__ import annotations

import pytest
from written import FIRST, ORACLE, batches

from midepoch_conformance.verdict.compare import difference, show, unwhole
from midepoch_conformance.verdict.expected import Position, Stretch, epochs_of

EPOCHS = epochs_of(ORACLE.sessions[0])


def stretch(start: int, got: str, ended: bool = True, epoch: int = 0) -> Stretch:
    want = EPOCHS[epoch][start:]
    return Stretch(1, 0, Position(epoch, start), "s", want, batches(got), ended)


@pytest.mark.parametrize(
    ("start", "got", "kind", "words"),
    [
        (1, "01|23|45", "repeated", "epoch 0, batch 1: expected [2 3], got [0 1] (the epoch"),
        (2, "23|45", "repeated", "already delivered"),
        (1, "45", "missing", "1 batch skipped"),
        (1, "23", "missing", "epoch 0 ends after batch 2: 1 batch missing"),
        (1, "", "missing", "epoch 0 ends after batch 1: 2 batches missing"),
        (1, "32|54", "reordered", "the same samples, another order"),
        (1, "25|34", "reordered", "the same samples, another order"),
        (1, "45|23", "reordered", "the same samples, another order"),
        (0, "53|41|20", "different", "epoch 1 begins so"),
        (2, "45|67", "extra", "expected the end of the epoch, got [6 7]"),
        (2, "45|45", "repeated", "expected the end of the epoch, got [4 5] (already delivered)"),
        (1, "12|34|5", "repeated", "with samples that were delivered before"),
    ],
)
def test_a_difference_has_a_kind_and_words(start: int, got: str, kind: str, words: str) -> None:
    found = difference(stretch(start, got), EPOCHS)
    assert found is not None
    assert found.kind == kind
    assert words in found.words


def test_the_end_of_an_equal_epoch_may_have_come_again() -> None:
    equal = [EPOCHS[0], EPOCHS[0]]
    found = difference(stretch(0, "45", epoch=0), equal)
    assert found is not None
    assert found.words.endswith("(2 batches skipped)")
    after = Stretch(1, 0, Position(1, 0), "s", EPOCHS[0], batches("45"), ended=True)
    found = difference(after, equal)
    assert found is not None
    assert found.kind == "missing"
    assert found.words.endswith("(2 batches skipped, or the end of epoch 0 comes again)")


def test_other_values_of_the_same_samples_are_named_so() -> None:
    epochs = [batches("01:0.5|23:0.25")]
    s = Stretch(1, 0, Position(0, 1), "s", epochs[0][1:], batches("23:0.75"), ended=True)
    found = difference(s, epochs)
    assert found is not None
    assert (found.kind, found.at) == ("values", 0)
    assert "got [(2, 0.75) (3, 0.75)] (the same samples, other values)" in found.words


def test_what_is_right_and_not_drained_is_no_difference() -> None:
    assert difference(stretch(0, "01|23", ended=False), EPOCHS) is None
    assert difference(stretch(0, FIRST), EPOCHS) is None


def test_what_nobody_knows_is_no_difference() -> None:
    beyond = Stretch(0, 0, Position(9, 0), "", None, batches("01"), ended=True)
    assert difference(beyond, EPOCHS) is None


def test_where_it_differs_is_counted() -> None:
    found = difference(stretch(0, "01|23|01"), EPOCHS)
    assert found is not None
    assert found.at == 2
    assert found.expected == batches("45")
    assert found.got == batches("01")


@pytest.mark.parametrize(
    ("got", "missing", "words"),
    [
        ("01|23|45", 0, None),
        ("54|01|32", 0, None),
        ("01|23", 2, None),
        ("01|23", 1, "samples 4, 5 are missing, and only 1 may be"),
        ("01|12|345", 0, "sample 1 comes twice"),
        ("01|23|45|6", 0, "sample 6 of no such epoch"),
        ("01|13", 0, "sample 1 comes twice and samples 2, 4, 5 are missing"),
    ],
)
def test_a_whole_epoch_has_each_sample_once(got: str, missing: int, words: str | None) -> None:
    found = unwhole(batches(got), 6, missing)
    assert (found.words if found else None) == words


def test_a_loaders_own_samples_are_no_numbers() -> None:
    found = unwhole([[["b0"], ["b1"]], [["b1"]]], 3)
    assert found is not None
    assert found.words == "samples without numbers"


def test_long_deliveries_are_cut_short_in_words() -> None:
    assert show([[[i]] for i in range(14)]).endswith("[11] and 2 more")
    assert show([]) == "nothing"
