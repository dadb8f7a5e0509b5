"""Drawings of delivered batches beside the batches that were due."""

from __future__ import annotations

from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st

from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.timeline import draw

thorough = examples(300)


def a_delivery(*steps: dict[str, Any], due: list[list[int]]) -> dict[str, Any]:
    told = [{"words": "", "epoch": 0, "at": 0, **step} for step in steps]
    return {
        "uninterrupted": [due],
        "sessions": [{"words": "no workers", "steps": told}],
        "capped": False,
    }


def take(at: int, *batches: list[int], **more: Any) -> dict[str, Any]:
    return {"do": "take", "at": at, "batches": list(batches), **more}


def looks(delivery: dict[str, Any]) -> list[str]:
    row = draw(delivery).grids[0].rows[-1]
    signs = {"blank": ".", "right": "", "missing": "-", "repeated": "+", "wrong": "!"}
    return [f"{signs[cell.look]}{cell.text}" for cell in row.cells[1:]]


def test_nothing_says_what_was_due_of_another_rank() -> None:
    delivery = a_delivery(take(0, [0, 1]), due=[[0, 1, 2], [3, 4, 5]])
    shared = {"words": "no workers, rank 1 of 2", "steps": [{**take(0, [2], [5]), "words": ""}]}
    delivery["sessions"].append(shared)
    rows = draw(delivery).grids[0].rows
    assert [cell.look for row in rows for cell in row.cells] == [
        *("blank", "wrong", "blank"),
        *("blank", "unknown", "unknown"),
    ]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (take(0, [0], [1]), ["0", "1", ".", ".", "."]),
        (take(2, [2], [3], [4], ended=True), [".", ".", "2", "3", "4"]),
        (take(2, [3], [4], ended=True), [".", ".", "-2", "3", "4"]),
        (take(2, [2], [3], ended=True), [".", ".", "2", "3", "-4"]),
        (take(2, [2], [3]), [".", ".", "2", "3", "."]),
        (take(2, ended=True), [".", ".", "-2", "-3", "-4"]),
        (take(2, [0], [1], [2], [3], [4], ended=True), ["+0", "+1", "2", "3", "4"]),
        (take(2, [1], [2], [3], [4], ended=True), [".", "+1", "2", "3", "4"]),
        (take(2, [0], [1]), ["+0", "+1", ".", ".", "."]),
        (take(2, [2], [2], [3], [4]), [".", ".", "2", "+2", "3", "4"]),
        (take(2, [9], [8], [7]), [".", ".", "!9", "!8", "!7"]),
        (take(2, [4], [3], [2]), [".", ".", "!4", "3", "!2"]),
        (take(0, [1], [2], [0], [3], [4]), ["!1", "!2", "!0", "3", "4"]),
        (take(2, [2], [3], [4], [9]), [".", ".", "2", "3", "4", "!9"]),
        (take(2, [], [3], [4]), [".", ".", "!∅", "3", "4"]),
    ],
)
def test_each_batch_stands_under_its_equal(step: dict[str, Any], expected: list[str]) -> None:
    found = looks(a_delivery(step, due=[[0], [1], [2], [3], [4]]))
    assert found == expected


def test_batches_that_are_due_twice_are_not_repeated() -> None:
    due = [[5], [5], [3], [5]]
    assert looks(a_delivery(take(1, [5], [3], [5], ended=True), due=due)) == [".", "5", "3", "5"]


def test_batches_that_may_come_in_any_order_are_not_wrong_for_it() -> None:
    delivery = a_delivery(take(0, [2], [0], [2], [9]), due=[[0], [1], [2]])
    delivery["sessions"][0]["words"] = "2 workers, out of order"
    assert looks(delivery) == ["0", ".", "2", "+2", "!9"]


def test_a_load_that_took_effect_late_is_drawn_where_it_did() -> None:
    delivery = a_delivery(
        take(0, [0]),
        {"do": "save", "state": "s", "at": 1},
        take(1, [1]),
        {"do": "load", "state": "s", "at": 2},
        {"do": "break", "at": 1},
        {"do": "drain", "epoch": 1, "at": 0, "batches": [[1], [2]], "ended": True},
        due=[[0], [1], [2]],
    )
    delivery["uninterrupted"].append([[0], [1], [2]])
    grids = draw(delivery).grids
    assert [grid.epoch for grid in grids] == [0]
    assert not draw(delivery).tells
    assert grids[0].rows[-1].words == "no workers, loads s"


def test_names_that_are_not_explained_are_counted() -> None:
    """A name that stands in the drawing and is not explained would leave the reader in doubt."""
    rows = [[[f"{number:0>40}"]] for number in range(30)]
    step = {"do": "take", "words": "", "epoch": 0, "at": 0, "batches": rows[10:20]}
    sessions = [{"words": "no workers", "steps": [step]}]
    found = {"uninterrupted": [rows[:10]], "sessions": sessions, "capped": False}
    *_, sixth, last = drawn_text(draw(found)).splitlines()
    assert sixth.startswith("b")
    assert last == "and 14 more"


def test_batches_of_which_only_a_hash_is_known_have_short_names() -> None:
    hashes = [[int(f"{n}23456789012")] for n in range(1, 4)]
    delivery = a_delivery(take(1, hashes[2], ended=True), due=hashes)
    text = drawn_text(draw(delivery))
    assert text == (
        "epoch 0    b0 b1   b2\nsession 1     (b1) b2 end\n(n) missing\nb1 = 223456789012"
    )
    cells = draw(delivery).grids[0].rows[0].cells
    assert [cell.whole for cell in cells if cell.text] == ["223456789012", "323456789012"]


def test_a_long_drawing_is_broken_into_parts_that_fit() -> None:
    due = [[f"row {n}"] for n in range(12)]
    text = drawn_text(draw(a_delivery(take(1, *due[2:], ended=True), due=due)), width=50)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 50
    assert sum(line.startswith("epoch 0") for line in lines) == 2
    assert all(name in text for (name,) in due)


def test_batches_of_several_streams_are_drawn_in_their_places() -> None:
    """Two streams in turns repeat each other's batches; on the resume one of them starts over."""
    due = [["a"], ["a"], ["b"], ["b"], ["c"], ["c"]]
    delivery = a_delivery(take(2, ["a"], ["b"], ["b"], ["c"], ["c"], ended=True), due=due)
    assert drawn_text(draw(delivery)) == (
        "epoch 0    a  a b b c c\nsession 1  +a   b b c c end\n+n delivered before"
    )


def test_what_has_nothing_to_be_compared_with_is_not_called_wrong() -> None:
    delivery = a_delivery(take(0, [1], [2]), due=[])
    delivery["uninterrupted"] = []
    assert [cell.look for cell in draw(delivery).grids[0].rows[0].cells[1:]] == ["unknown"] * 2
    assert draw(None).grids == ()


def test_a_fault_is_drawn_where_it_ended_the_session() -> None:
    delivery = a_delivery(take(0, [0], fault="KeyError: 'x' (after 1 batches)"), due=[[0], [1]])
    assert draw(delivery).tells
    assert drawn_text(draw(delivery)) == (
        "epoch 0    0 1\nsession 1  0   ✗ KeyError: 'x' (after 1 batches)"
    )


Batches = st.lists(st.integers(0, 9).map(lambda n: [n]), max_size=8)


@thorough
@given(due=Batches, got=Batches, at=st.integers(0, 8), ended=st.booleans())
def test_every_batch_is_drawn_once_and_in_its_row(
    due: list[list[int]], got: list[list[int]], at: int, ended: bool
) -> None:
    at = min(at, len(due))
    step = take(at, *got, **({"ended": True} if ended else {"fault": "x"}))
    grid = draw(a_delivery(step, due=due)).grids[0]
    row = grid.rows[0]
    came = [c.text for c in row.cells if c.look in ("right", "repeated", "wrong", "unknown")]
    assert sorted(came) == sorted(str(batch[0]) for batch in got)
    assert len(row.cells) == len(grid.due)
    assert [c.text for c in grid.due if c.text] == [str(batch[0]) for batch in due]
    for above, below in zip(grid.due, row.cells, strict=True):
        assert below.look not in ("right", "missing") or above.text == below.text
    rest = [str(batch[0]) for batch in due[at:]]
    if ended and got == due[at:]:
        assert not grid.wrong
    if ended and any(rest.count(text) > came.count(text) for text in rest):
        assert grid.wrong
