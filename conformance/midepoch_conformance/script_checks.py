"""What a failure's script compares, for each requirement (pure text).

The script has played ``whole`` (the uninterrupted run, where it is needed) and ``first``,
``second`` ... (the case's sessions): lists of delivered batches, an error as a text.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from midepoch_conformance.case import Case
from midepoch_conformance.lengths import Place, places
from midepoch_conformance.verdict import NO_REFUSALS, Finding

__all__ = ["NAMES", "Check", "check_of"]

NAMES = ("first", "second", "third", "fourth", "fifth")
"""The sessions' names in a script."""


@dataclasses.dataclass(frozen=True)
class Check:
    """The end of a script.

    Attributes:
        expected: the expression that is printed as expected.
        got: the expression that is printed as got.
        shows: the expression that tells whether the failure shows.
        helpers: functions that these call.
        oracle: whether the uninterrupted run is needed.
        parts: whether an epoch is looked at as one list of samples.
        notes: what sessions deliver besides: ``drew``, ``size`` or ``calls``.
    """

    expected: str
    got: str
    shows: str = "got != expected"
    helpers: tuple[str, ...] = ()
    oracle: bool = False
    parts: bool = False
    notes: str = ""


Recipe = Callable[[Case, Finding, Sequence[int]], Check]

_REFUSED = (
    "def refused(seen):  # by an error with a message, before any batch, and not by accident",
    '    kind, _, words = str([*seen, ""][0]).partition(": ")',
    '    return kind.isidentifier() and words.strip() and kind not in "'
    + " ".join(sorted(NO_REFUSALS))
    + '"',
)


def check_of(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """Return what the script of ``finding`` compares."""
    return _RECIPES.get(finding.requirement, _batches)(case, finding, lengths)


def _batches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """All that is delivered is the uninterrupted run's, as far as that goes."""
    wanted: list[list[int]] = []
    for plan, walked in zip(case.sessions, places(case, lengths), strict=True):
        for step, before, after in zip(plan.steps, walked[:-1], walked[1:], strict=True):
            if step.do in ("take", "drain") and before.epoch < len(lengths):
                start, end = _flat(before, lengths), _flat(after, lengths)
                if wanted and wanted[-1][1] == start:
                    wanted[-1][1] = end
                else:
                    wanted.append([start, end])
    slices = [_slice(start, end, sum(lengths)) for start, end in wanted if start < end]
    seen = [f"*{name}" for name, _ in zip(NAMES, case.sessions, strict=False)]
    expected = slices[0] if len(slices) == 1 else f"[{', '.join('*' + s for s in slices)}]"
    return Check(
        expected=expected,
        got=f"[{', '.join(seen)}][: len(expected)]",
        oracle=True,
    )


def _flat(place: Place, lengths: Sequence[int]) -> int:
    return sum(lengths[: place.epoch]) + place.done


def _slice(start: int, end: int, whole: int) -> str:
    if start == 0 and end == whole:
        return "whole"
    return f"whole[{start or ''}:{end if end < whole else ''}]"


def _runs(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    batches = sum(lengths)
    return Check(
        expected=f'"{case.workload.epochs} epochs, {batches} batches, and no error"',
        got="first",
        shows=f"len(got) < {batches} or any(isinstance(batch, str) for batch in got)",
    )


def _each_once(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    w, x = case.workload, case.sessions[0].execution
    most = 0 if w.tail != "drop" else max(1, x.lanes or 0, x.workers) * (w.batch_size - 1)
    drains = sum(step.do == "drain" for step in case.sessions[0].steps)
    return Check(
        expected=f'"in each of {drains} epochs samples 0 to {w.n - 1}, each once"',
        got=f"first[-{drains}:]",
        shows=f"not all({w.n - most} <= len(epoch) == len(set(epoch)) for epoch in got)",
        parts=True,
    )


def _drew(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"no save moves a global random stream"',
        got="[seen for seen in first if isinstance(seen, str)]",
        shows="len(got) > 0",
        notes="drew",
    )


def _refuses(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"an error that refuses it in words, before any batch"',
        got="first",
        shows="not refused(first)",
        helpers=_REFUSED,
    )


def _refuses_or_continues(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    exact = _batches(case, finding, lengths)
    shows = "got != expected and not refused(second)"
    return dataclasses.replace(exact, shows=shows, helpers=_REFUSED)


def _refuses_or_completes(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    sizes = sorted({case.workload.n, case.session_workload(1).n})
    each = " or ".join(f"0 to {n - 1}" for n in sizes)
    whole = ", ".join(f"[*range({n})]" for n in sizes)
    return Check(
        expected=f'"a refusal, or samples {each}, each once, in the saved epoch"',
        got="first + [epoch for epoch in second if epoch][:1]",
        shows=f"not refused(second) and sorted(i for b in got for i in b) not in [{whole}]",
        helpers=_REFUSED,
        parts=True,
    )


def _after_a_refusal(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    if finding.words.startswith(("the epoch after", "after the refusal it")):
        n = case.workload.n
        return Check(
            expected=f'"after the refusal samples 0 to {n - 1}, each once"',
            got="first[[isinstance(seen, str) for seen in first].index(True) + 1 :]",
            shows=f"sorted(i for batch in got for i in batch) != [*range({n})]",
        )
    exact = _batches(case, finding, lengths)
    # The refusal itself is as it must be; a second error is not.
    refusal = "next((seen for seen in first if isinstance(seen, str)), None)"
    return dataclasses.replace(
        exact, got=f"[seen for seen in first if seen != {refusal}][: len(expected)]"
    )


def _live(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    walked, steps = places(case, lengths)[1], [step.do for step in case.sessions[1].steps]
    load = steps.index("load")
    before = sum(step.n for step in case.sessions[1].steps[:load] if step.do == "take")
    at = _flat(walked[load + 1], lengths)
    rest = f"whole[{at}:{_flat(Place(walked[load + 1].epoch + 1), lengths)}]"
    # Either the live iterator goes on from the state, or it raises and the next one does.
    return Check(
        expected=f"{rest}[: len(got)]",
        got=f"[batch for batch in second[{before}:] if not isinstance(batch, str)][:1]",
        shows="got != expected or not got",
        oracle=True,
    )


def _errs(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"an error in time"',
        got="first",
        shows='[*map(type, got)][-1:] != [str] or got[-1].startswith(("hang", "crash"))',
    )


def _reaches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    bad = case.workload.fail_at
    good = f"itertools.takewhile(lambda batch: {bad} not in batch, whole)"
    return Check(
        expected=f'[*{good}, "RuntimeError: sample {bad} fails on purpose"]',
        got="first",
        shows='got[:-1] != expected[:-1] or "on purpose" not in str(got[-1:])',
        oracle=True,
    )


def _left(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(expected='"0 processes left"', got="first[-1]", shows="got != 0")


def _sizes(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"about as many bytes in a late state as in an early one"',
        got="[seen for seen in first if isinstance(seen, int)]",
        shows="got[-1] - got[0] > 256",
        notes="size",
    )


def _at_most(session: int) -> Recipe:
    def recipe(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
        what = "state_dict" if finding.requirement == "COST-2" else "iter"
        return Check(
            expected=f'"at most {finding.expected} calls of {what}"',
            got=f'{NAMES[session]}[-1].split().count("{what}")',
            shows=f"got > {finding.expected}",
            notes="calls",
        )

    return recipe


def _fetches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"about as many samples fetched by a late resume as by an early one"',
        got='[seen[-1].split().count("fetch") for seen in (second, third)]',
        shows=f"got[1] - got[0] > {400 * case.workload.batch_size}",
        notes="calls",
    )


def _distinct(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    values = "[value for batch in first for row in batch for value in row[1:]]"
    return Check(
        expected='"no value is drawn twice"',
        got=f"[v for v, count in collections.Counter({values}).items() if count > 1]",
        shows="len(got) > 1",
    )


_RECIPES: dict[str, Recipe] = {
    "BASIS-1": _runs,
    "BASIS-3": _each_once,
    "BASIS-5": _drew,
    "EPOCH-5": _each_once,
    "RESUME-5": _live,
    "REFUSE-1": _refuses,
    "REFUSE-2": _refuses_or_continues,
    "REFUSE-3": _refuses_or_completes,
    "REFUSE-4": _after_a_refusal,
    "ELASTIC-2": _refuses_or_completes,
    "FAULT-1": _errs,
    "FAULT-2": _reaches,
    "FAULT-3": _errs,
    "FAULT-4": _left,
    "COST-1": _sizes,
    "COST-2": _at_most(0),
    "COST-3": _fetches,
    "COST-4": _at_most(1),
    "VOWN-2": _distinct,
    "VAMB-2": _distinct,
}
