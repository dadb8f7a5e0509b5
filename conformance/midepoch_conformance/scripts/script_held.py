"""What a failure's script compares of batches that are held, and written into (pure text)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.scripts.script_checks import Check, delivered, register
from midepoch_conformance.scripts.script_sessions import NAMES
from midepoch_conformance.verdict.finding import Finding

__all__ = ["HELPERS", "HOLDING"]

HOLDING = frozenset({"again", "kept"})
"""Notes of a check, and functions through which all that a session delivers goes."""

HELPERS: dict[str, tuple[str, ...]] = {
    "again": (
        "def again(batches):  # as they are delivered, then once more, as they are by then",
        "    return itertools.chain(*itertools.tee(batches))",
    ),
    "kept": (
        "KEPT = []",
        "",
        "",
        "def kept(batches):  # for those that write into them",
        "    return (KEPT.append(batch) or batch for batch in batches)",
    ),
    "overwrite": (
        "def overwrite():  # each number of what was delivered",
        "    for row in itertools.chain(*KEPT):",
        "        for place in range(len(row)):",
        "            row[place] = -1",
    ),
}
"""Functions that hold what is delivered, and write into it."""


@register("BASIS-6")
def _held(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    if "written into" in finding.words and "delivered later" in finding.words:
        return Check(
            expected='"no batch holds the -1 that was written into others"',
            got=delivered(case),
            shows="any(-1 in batch for batch in got)",
            notes="kept",
        )
    said = re.search(r" in session (\d+) ", finding.words)
    number = int(said[1]) if said else 0
    name = NAMES[number]
    plans = list(enumerate(case.sessions[: number + 1]))
    return Check(
        expected=f"@{name}[: len(@{name}) // 2]",
        got=f"@{name}[len(@{name}) // 2 :]",
        notes="again",
        sessions=tuple(index for index, _ in plans),
        steps=tuple((index, _unwritten(plan.steps)) for index, plan in plans),
    )


def _unwritten(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps without those that write into a batch: what changes it is the loader."""
    return tuple(step for step in steps if step.do != "overwrite")
