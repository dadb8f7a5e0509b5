"""Makes histories smaller whose number of ranks changes: less stages, ranks and steps (pure)."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from midepoch_conformance.case.case import Case, CaseError
from midepoch_conformance.case.stages import Stage, staged, stages_of

__all__ = ["fewer_stages", "is_staged"]


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
