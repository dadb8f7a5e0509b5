"""Draws programs that are cut into pieces (pure)."""

from __future__ import annotations

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.history import MOST_EPOCHS, Course
from midepoch_conformance.case.programs import LOOK, Piece, misplaced, programmed
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.draws import (
    Chance,
    Unplayable,
    changed_execution,
    first_execution,
    some_codec,
    workload,
)
from midepoch_conformance.search.steering import Declines, in_profile

__all__ = ["BUDGETS", "draw_program", "draw_programs"]

BUDGETS = {"quick": (60, 6), "full": (600, 40)}
"""How many programs each profile draws, without workers and with them."""

_BREAK = Step("break")


def draw_programs(
    profile: str, offer: Offer, seed: int, declines: Declines | None = None
) -> list[Case]:
    """Draw a profile's programs, the same for the same seed.

    Example:
        >>> len(draw_programs("quick", Offer(), seed=1))
        60
    """
    words = f"{seed} of programs"
    return in_profile(draw_program, BUDGETS[profile], offer, words, declines)


def draw_program(chance: Chance, offer: Offer, multi: bool) -> Case:
    """Draw a program; with ``multi``, some of its pieces have workers.

    Raises:
        Unplayable: what was drawn is not offered, or may not be asked.
    """
    w = workload(chance, offer, {})
    x = first_execution(chance, offer, w, multi, {})
    moves, places = _moves(chance, offer, Course(w, told=True), x)
    if not places:
        raise Unplayable("there is no place for a cut")
    cuts = sorted({chance.one(places) for _ in range(chance.one((1, 2, 2, 3, 4)))})
    pieces: list[Piece] = []
    for begin, end in zip((0, *cuts), (*cuts, len(moves)), strict=True):
        before = pieces[-1].execution if pieces else x
        changes = pieces and chance.often(0.5)
        here = changed_execution(chance, offer, w, before, multi, {}) if changes else before
        codec = some_codec(chance, offer)
        pieces.append(Piece(here, tuple(moves[begin:end]), codec, chance.often(0.3)))
    case = programmed(w, x, pieces)
    words = misplaced(case) or reason_not_offered(case, offer)
    if words is not None:
        raise Unplayable(words)
    return case


def _moves(
    chance: Chance, offer: Offer, course: Course, x: Execution
) -> tuple[list[Step], list[int]]:
    """Draw moves through some epochs, and return them with the places where they may be cut."""
    course.begin(course.workload, SessionPlan(x, ()))
    tolerate = course.faulty
    moves: list[Step] = []
    places: list[int] = []
    for _ in range(3 + chance.below(8)):
        if course.mark.epoch + 3 >= MOST_EPOCHS:
            break
        take = Step("take", 1 + chance.below(3), tolerate=tolerate)
        drain = Step("drain", tolerate=tolerate)
        ways = [take, take, take, drain]
        if offer.boundary != "stream":
            ways += [_BREAK, _BREAK]
        if moves and moves[-1] == LOOK:
            ways = [take]  # only a batch shows which epoch the iterator is of
        elif moves and moves[-1] == _BREAK and "midepoch" in offer.formats and chance.often(0.3):
            ways = [LOOK]
        move = chance.one([way for way in ways if course.objection(way) is None] or [drain])
        course.follow(move)
        moves.append(move)
        if move.do != "break":
            places.append(len(moves))
    # A program ends with whole epochs, which show where it stands.
    moves += [Step("drain", tolerate=tolerate)] * (3 if tolerate else 2)
    return moves, [at for at in places if moves[at].do != "break"]
