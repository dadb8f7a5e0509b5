"""Makes histories smaller that have stages of ranks, and programs that have pieces (pure)."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from midepoch_conformance.case.case import Case, CaseError
from midepoch_conformance.case.programs import Piece, misplaced, pieces_of, programmed
from midepoch_conformance.case.stages import Stage, staged, stages_of

__all__ = ["fewer_moves", "fewer_stages", "is_program", "is_staged"]


def fewer_stages(case: Case) -> Iterator[Case]:
    """Yield the history without a stage, or without some of what all ranks of one are or do."""
    found = stages_of(case)
    changed = [[*found[:i], *found[i + 1 :]] for i in range(len(found))] if found[2:] else []
    changed += [
        [*found[:i], other, *found[i + 1 :]] for i, one in enumerate(found) for other in _less(one)
    ]
    for stages in changed:
        with contextlib.suppress(CaseError):
            yield staged(case.probe, case.workload, stages)


def _less(stage: Stage) -> Iterator[Stage]:
    for world in range(1, stage.execution.world):
        x = dataclasses.replace(stage.execution, world=world)
        yield dataclasses.replace(stage, execution=x)
    if stage.adopts:
        yield dataclasses.replace(stage, adopts=False)
    if stage.batch_size:
        yield dataclasses.replace(stage, batch_size=0)
    for number, step in enumerate(stage.steps):
        before, after = stage.steps[:number], stage.steps[number + 1 :]
        yield dataclasses.replace(stage, steps=(*before, *after))
        plain = dataclasses.replace(step, n=min(step.n, 1), codec="")
        if plain != step:
            yield dataclasses.replace(stage, steps=(*before, plain, *after))


def is_staged(case: Case) -> bool:
    """Return whether a history's sessions are those of stages that its workload allows."""
    with contextlib.suppress(CaseError):
        return bool(stages_of(case))
    return False


def fewer_moves(case: Case) -> Iterator[Case]:
    """Yield the program without a cut, without a move, or with plainer pieces."""
    whole, found = case.sessions[0].execution, pieces_of(case)
    changed: list[list[Piece]] = []
    for i in range(len(found) - 1):
        merged = dataclasses.replace(found[i + 1], moves=found[i].moves + found[i + 1].moves)
        changed += [[*found[:i], merged, *found[i + 2 :]]] if len(found) > 2 else []
    for i, piece in enumerate(found):
        changed += [[*found[:i], other, *found[i + 1 :]] for other in _plainer(piece)]
    for pieces in changed:
        smaller = programmed(case.workload, whole, pieces)
        if is_program(smaller):
            yield smaller


def _plainer(piece: Piece) -> Iterator[Piece]:
    yield dataclasses.replace(piece, codec="", killed=False)
    for number, move in enumerate(piece.moves):
        before, after = piece.moves[:number], piece.moves[number + 1 :]
        yield dataclasses.replace(piece, moves=(*before, *after))
        if move.n > 1:
            one = dataclasses.replace(move, n=1)
            yield dataclasses.replace(piece, moves=(*before, one, *after))


def is_program(case: Case) -> bool:
    """Return whether a case is a program that may be asked."""
    with contextlib.suppress(CaseError):
        return misplaced(case) is None
    return False
