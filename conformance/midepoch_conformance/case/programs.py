"""Programs: what one process asks of a loader, and the same cut into pieces (pure).

The first session takes all moves of the program in one go. The sessions after it take the same
moves, each some of them: it loads the state that the one before has saved. So whatever a program
does with epochs, its own first session says what must be delivered.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import PROGRAM, Case, CaseError, SessionPlan, Step
from midepoch_conformance.case.history import Course, first_objection
from midepoch_conformance.case.notation import usual
from midepoch_conformance.case.workload import Workload

__all__ = ["LOOK", "MOVES", "Piece", "leaves_at_an_end", "misplaced", "pieces_of", "programmed"]

MOVES = ("take", "drain", "break")

LOOK = Step("take", 0)
"""Makes an iterator, and asks nothing of it."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """Some moves of a program, which a process of its own takes."""

    execution: Execution
    moves: tuple[Step, ...]
    """Its steps of :data:`MOVES`."""
    codec: str = ""
    """The codec of the state that it saves for the next piece; the last one saves none."""
    killed: bool = False
    """Whether its process is killed after that."""


def programmed(w: Workload, whole: Execution, pieces: Sequence[Piece]) -> Case:
    """Return the program that these pieces make together, first in one go by ``whole``.

    Example:
        >>> take, drain = Step("take", 1), Step("drain")
        >>> pieces = [Piece(Execution(), (take,)), Piece(Execution(), (take, drain), killed=True)]
        >>> for plan in programmed(Workload(), Execution(), pieces).sessions:
        ...     print([step.do for step in plan.steps])
        ['take', 'take', 'drain']
        ['take', 'save']
        ['load', 'take', 'drain']
    """
    moves = tuple(move for piece in pieces for move in piece.moves)
    sessions = [SessionPlan(whole, moves, *usual(0))]
    for number, piece in enumerate(pieces, start=1):
        steps = list(piece.moves)
        if number > 1:
            steps.insert(0, Step("load", state=f"s{number - 1}"))
        if number < len(pieces):
            steps.append(Step("save", state=f"s{number}", codec=piece.codec))
            steps += [Step("kill")] * piece.killed
        sessions.append(SessionPlan(piece.execution, tuple(steps), *usual(number)))
    # The program's own run takes the place of an uninterrupted one.
    return Case(PROGRAM, dataclasses.replace(w, epochs=0), tuple(sessions))


def pieces_of(case: Case) -> list[Piece]:
    """Return the pieces of a program.

    Raises:
        CaseError: the sessions are not those of a program.
    """
    pieces = []
    for plan in case.sessions[1:]:
        saves = [step for step in plan.steps if step.do == "save"]
        moves = tuple(step for step in plan.steps if step.do in MOVES)
        killed = any(step.do == "kill" for step in plan.steps)
        pieces.append(Piece(plan.execution, moves, saves[0].codec if saves else "", killed))
    if not pieces or programmed(case.workload, case.sessions[0].execution, pieces) != case:
        raise CaseError("its sessions are not those of a program and its pieces")
    return pieces


def misplaced(case: Case) -> str | None:
    """Return why a program may not be asked, or None if it may.

    Raises:
        CaseError: the sessions are not those of a program.
    """
    pieces = pieces_of(case)
    if any(not piece.moves or piece.moves[-1].do == "break" for piece in pieces):
        return "a state between a break and the next epoch may describe either epoch"
    moves = [move for piece in pieces for move in piece.moves]
    if any(a == LOOK and b.do == "break" for a, b in itertools.pairwise(moves)):
        return "no session tells whether an iterator counts that nothing was asked of"
    return first_objection(Course(case.workload, told=True), case)


def leaves_at_an_end(case: Case) -> bool:
    """Return whether a piece ends after an epoch's last batch, its end not seen.

    The next piece then sees an empty epoch, or none: only the format says which.
    """
    course = Course(case.workload, told=True)
    for plan in case.sessions:
        course.begin(case.workload, plan)
        for step in plan.steps:
            if step.do == "save" and course.open and not course.left:
                return True
            course.follow(step)
    return False
