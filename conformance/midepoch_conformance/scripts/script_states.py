"""What a failure's script compares of a state that must not change (pure text)."""

from __future__ import annotations

from collections.abc import Sequence

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.uninterrupted import Place, places
from midepoch_conformance.scripts.script_checks import Check, batches, register
from midepoch_conformance.verdict.finding import Finding

__all__: list[str] = []

_ONWARD = frozenset({"take", "drain", "save", "seal"})
"""Steps of a session that delivers each batch once."""


@register("STATE-1")
def _never_changes(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The first session goes on after it has taken the state, as the second must from there."""
    plans = case.sessions
    steps = [step for plan in plans for step in plan.steps]
    resumes = len(plans) == 2 and [step.do for step in plans[1].steps[:1]] == ["load"]
    if not resumes or any(step.tolerate for step in steps):
        return batches(case, finding, lengths)
    first, second = places(case, lengths)
    loaded, end = second[1], second[-1]
    delivered = (first[-1].epoch, first[-1].done)
    same = delivered == (end.epoch, end.done)
    known = loaded.epoch < len(lengths) and (same or end.epoch <= len(lengths))
    onward = {step.do for step in plans[0].steps} <= _ONWARD
    if not onward or not known or delivered < (end.epoch, end.done):
        return batches(case, finding, lengths)
    last = "" if same else _count(end, lengths)
    return Check(expected=f"@first[{_count(loaded, lengths)}:{last}]", got="@second")


def _count(place: Place, lengths: Sequence[int]) -> int:
    """Return the batches of all epochs before a place."""
    return sum(lengths[: place.epoch]) + place.done
