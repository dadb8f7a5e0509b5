"""Positions are followed by what was delivered."""

from __future__ import annotations

import pytest
from written import FIRST, ORACLE, SECOND, THIRD, batches, case, trace, whole

from midepoch_conformance.case.uninterrupted import places
from midepoch_conformance.verdict.expected import Position, epochs_of, follow

EPOCHS = epochs_of(ORACLE.sessions[0])


def test_the_epochs_of_a_run_are_what_each_drain_delivered() -> None:
    assert [batches(FIRST), batches(SECOND), batches(THIRD)] == EPOCHS


def test_an_epoch_taken_in_pieces_is_one_epoch() -> None:
    c = case("plain", "take 1, take 1, drain, drain")
    t = trace(c, ["01", "23", "45.", "53|41|20."])
    assert epochs_of(t.sessions[0]) == [batches(FIRST), batches(SECOND)]


def test_a_resumed_session_wants_the_rest_and_then_the_next_epoch() -> None:
    c = case("cut", "take 2, save s", "load s, drain, drain")
    t = trace(c, ["01|23", ""], ["", "45.", "53|41|20."])
    first, rest, later = follow(c, t, EPOCHS)
    assert (first.start, rest.start, later.start) == (
        Position(0, 0),
        Position(0, 2),
        Position(1, 0),
    )
    assert rest.want == batches("45")
    assert later.want == batches(SECOND)
    assert rest.loaded == "s"


def test_an_end_state_stands_at_the_next_epoch_with_or_without_an_empty_one() -> None:
    c = case("end unseen", "take 3, save s", "load s, drain, drain")
    for texts in (["", ".", "53|41|20."], ["", "53|41|20.", "24|05|13."]):
        stretches = follow(c, trace(c, ["01|23|45", ""], texts), EPOCHS)[1:]
        real = [s for s in stretches if not s.leading]
        assert real[0].start == Position(1, 0)
        assert real[0].want == batches(SECOND)
    assert follow(c, trace(c, ["01|23|45", ""], ["", ".", "."]), EPOCHS)[2].leading


def test_only_empty_epochs_right_after_a_load_are_leading() -> None:
    c = case("plain", "drain, drain")
    t = trace(c, [".", "01|23|45."])
    assert [s.leading for s in follow(c, t, EPOCHS)] == [False, False]
    assert [s.start.epoch for s in follow(c, t, EPOCHS)] == [0, 1]


def test_after_a_load_an_epoch_without_batches_is_an_epoch() -> None:
    epochs = [[], batches("01|23"), batches("45|67")]
    c = case("some", "save a", "load a, drain, drain, drain")
    for given in ([".", "01|23.", "45|67."], [".", ".", "01|23."]):  # with an empty rest, too
        stretches = follow(c, trace(c, [""], ["", *given]), epochs)
        assert [s.want for s in stretches if s.got] == [s.got for s in stretches if s.got]


def test_a_chain_is_followed_through_its_states() -> None:
    c = case("chain", "take 1, save a", "load a, take 1, save b", "load b, drain")
    t = trace(c, ["01", ""], ["", "23", ""], ["", "45."])
    assert [s.start for s in follow(c, t, EPOCHS)] == [
        Position(0, 0),
        Position(0, 1),
        Position(0, 2),
    ]


def test_a_break_leads_to_the_next_epoch() -> None:
    c = case("break", "take 1, break, drain")
    t = trace(c, ["01", "", "53|41|20."])
    assert [s.start for s in follow(c, t, EPOCHS)] == [Position(0, 0), Position(1, 0)]


@pytest.mark.parametrize(
    ("steps", "texts", "begun"),
    [
        ("name_epoch 2, take 1", ["", "24"], [(2, 0)]),
        ("take 1, name_epoch 2, drain, drain", ["01", "", "23|45.", ""], [(0, 0), (2, 0)]),
        ("drain, drain, name_epoch 1, take 1", [f"{FIRST}.", f"{SECOND}.", "", "24"],
         [(0, 0), (1, 0), (2, 0)]),
        ("take 1, break, name_epoch 2, take 1", ["01", "", "", "24"], [(0, 0), (2, 0)]),
        ("save s, name_epoch 2, take 1, load s, take 1", ["", "", "24", "", "01"],
         [(2, 0), (0, 0)]),
    ],
)  # fmt: skip
def test_a_named_epoch_comes_next_until_a_state_is_loaded(
    steps: str, texts: list[str], begun: list[tuple[int, int]]
) -> None:
    c = case("named epoch", steps)
    found = [(s.start.epoch, s.start.batches) for s in follow(c, trace(c, texts), EPOCHS)]
    assert found == begun
    lengths = [3, 3, 3]
    takes = [n for n, step in enumerate(c.sessions[0].steps) if step.do in ("take", "drain")]
    (session,) = places(c, lengths)
    assert {(session[n].epoch, session[n].done) for n in takes} >= set(begun)


def test_a_refused_load_moves_nothing() -> None:
    c = case("after a refusal", "take 1, load_bogus none?, take 1")
    t = trace(c, ["01", "!load ValueError no state", "23"])
    (only,) = follow(c, t, EPOCHS)
    assert only.got == batches("01|23")


def test_a_live_load_begins_a_stretch_of_its_own() -> None:
    c = case("live", "take 1, save s", "take 2, load s, take 1")
    t = trace(c, ["01", ""], ["01|23", "", "45"])
    assert follow(c, t, EPOCHS)[-1].want == batches("23|45")


def test_beyond_the_known_epochs_nothing_is_wanted() -> None:
    c = case("plain", "drain, drain")
    t = trace(c, ["01|23|45.", "01|23|45."])
    short = epochs_of(whole(FIRST).sessions[0])
    assert [s.want is None for s in follow(c, t, short)] == [False, True]


def test_empty_epochs_of_an_empty_dataset_keep_their_places() -> None:
    c = case("end seen", "drain, save s", "load s, drain")
    t = trace(c, [".", ""], ["", "."])
    nothing = epochs_of(whole("", "").sessions[0])
    assert [s.got for s in follow(c, t, nothing)] == [[], []]


def test_a_session_opened_anew_starts_over_and_keeps_its_states() -> None:
    c = case("held", "take 1, save s, close, open, take 1, load s, break, take 1")
    t = trace(c, ["01", "", "", "", "01", "", "", "23"])
    found = follow(c, t, EPOCHS)
    assert [(s.start, s.loaded) for s in found] == [
        (Position(0, 0), ""),
        (Position(0, 0), ""),
        (Position(0, 1), "s"),
    ]


def test_a_recoded_state_stands_where_the_first_one_does() -> None:
    c = case("history", "take 1, save s, take 1, recode s t, kill", "load t, drain")
    t = trace(c, ["01", "", "23", "", ""], ["", "23|45."])
    assert follow(c, t, EPOCHS)[-1].start == Position(0, 1)
    assert follow(c, t, EPOCHS)[-1].want == batches("23|45")


def test_the_place_in_the_epochs_is_the_start_again_after_an_open() -> None:
    c = case("held", "take 2, save s, close, open, take 1, recode s t, load t, break")
    (walked,) = places(c, [3, 3])
    assert [(p.epoch, p.done) for p in walked] == [
        *((0, 0), (0, 2), (0, 2), (0, 2)),
        *((0, 0), (0, 1), (0, 1), (0, 2), (0, 2)),
    ]
