"""The steps of a case that its failure's script needs (pure)."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from midepoch_conformance.case.case import Case, SessionPlan
from midepoch_conformance.case.uninterrupted import places
from midepoch_conformance.verdict.finding import Finding

__all__ = ["needed"]

REST = frozenset(
    {
        "RESUME-1", "RESUME-2", "RESUME-3", "RESUME-4", "RESUME-6", "STATE-3", "STATE-4",
        "STATE-5", "STATE-6", "EPOCH-4", "RESUME-5",
    }
)  # fmt: skip
"""The requirements that look at the first epoch after the last load, and at no later one."""


def needed(case: Case, finding: Finding, lengths: Sequence[int]) -> Case:
    """Return ``case`` without what cannot matter to ``finding``."""
    if finding.requirement == "STATE-2":
        return _where_it_failed(case, finding)
    if finding.requirement not in REST and not _is_of_the_rest(case, finding, lengths):
        return case
    if finding.requirement == "RESUME-6":
        case = _leading_to_the_last(case)
    last, walked = case.sessions[-1], places(case, lengths)[-1]
    steps = list(last.steps)
    drained = [i for i, step in enumerate(steps) if step.do == "drain"]
    tail = len(steps) - next((i for i, s in enumerate(reversed(steps)) if s.do != "drain"), 0)
    # An epoch that is left over may be empty: then the next one is the first.
    first = next((i for i in drained if i >= tail and walked[i].left(lengths)), None)
    if first is None or any(walked[i].done == 0 and not walked[i].left(lengths) for i in drained):
        return case
    plan = dataclasses.replace(last, steps=tuple(steps[: first + 1]))
    return dataclasses.replace(case, sessions=(*case.sessions[:-1], plan))


def _is_of_the_rest(case: Case, finding: Finding, lengths: Sequence[int]) -> bool:
    """Return whether the failure shows in the epoch that the last session resumes."""
    if finding.requirement in ("REFUSE-3", "ELASTIC-2"):
        return set(_sizes(case)) == {case.workload.n}
    named = re.search(r": epoch (\d+), batch", finding.words)
    if finding.requirement != "STATE-1" or not named:
        return False
    loads = [i for i, step in enumerate(case.sessions[-1].steps) if step.do == "load"]
    return bool(loads) and places(case, lengths)[-1][loads[-1] + 1].epoch == int(named[1])


def _sizes(case: Case) -> list[int]:
    return [case.session_workload(number).n for number in range(len(case.sessions))]


def _where_it_failed(case: Case, finding: Finding) -> Case:
    """Return the case as far as the session that fails, where the finding tells which that is."""
    first, *others = case.sessions
    if finding.words.endswith("(when saving)"):
        return dataclasses.replace(case, sessions=(first,))
    # What comes before any batch comes of the load: the first session has delivered before.
    if not finding.words.endswith(("(when loading)", "(before the first batch)")):
        return case
    saves = [number for number, step in enumerate(first.steps) if step.do == "save"]
    first = dataclasses.replace(first, steps=first.steps[: max(saves) + 1])
    return dataclasses.replace(case, sessions=(first, *others))


def _leading_to_the_last(case: Case) -> Case:
    """Return the case without the sessions whose states the last one does not depend on."""
    asked: set[str] = set()
    kept: list[SessionPlan] = []
    for plan in reversed(case.sessions):
        made = {step.state for step in plan.steps if step.do == "save"}
        made |= {step.into for step in plan.steps if step.into}
        if not kept or made & asked:
            kept.append(plan)
            asked |= {step.state for step in plan.steps if step.do.startswith("load")}
    return dataclasses.replace(case, sessions=tuple(reversed(kept)))
