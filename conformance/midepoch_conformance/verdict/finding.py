"""Verdicts: a judge's finding, the rule for refusals, and the result of many findings (pure)."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Fault
from midepoch_conformance.text import counted
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.prerequisites import presupposed
from midepoch_conformance.verdict.users_code import innermost, last_error, raised_by_user

__all__ = [
    "FAILURES",
    "KINDS",
    "NO_REFUSALS",
    "OUTCOMES",
    "Finding",
    "Result",
    "aggregate",
    "block_dependents",
    "class_words",
    "is_refusal",
    "is_slip",
    "of_fault",
    "place",
    "worst",
]

OUTCOMES = (
    "fails silently",
    "fails",
    "unstable",
    "error",
    "refused",
    "pass",
    "blocked",
    "not offered",
)
"""All outcomes; the first one that occurs decides."""

FAILURES = frozenset({"fails silently", "fails"})

KINDS = frozenset(
    {
        # wrong batches without an error
        "missing", "repeated", "reordered", "extra", "values", "different", "ignored", "swallowed",
        # errors
        "crash", "hang", "late error", "bare error", "error", "codec", "save", "close", "refusal",
        # everything else that a requirement limits
        "cost", "leftover", "invalid",
        # not the loader's: no uninterrupted run to compare with, the adapter's error, a judge's,
        # and a case that fails only while other cases run
        "oracle", "adapter", "judge", "company",
    }
)  # fmt: skip
"""The ways in which a finding fails."""

NO_REFUSALS = frozenset(
    {
        "AssertionError",
        "KeyError",
        "IndexError",
        "AttributeError",
        "UnboundLocalError",
        "RecursionError",
        "StopIteration",
    }
)
"""Exceptions that are accidents, with their subclasses: no loader refuses a state by them."""

_SHOWN = 300
_RUNS: tuple[str, ...] = ("BASIS-1",)


@dataclasses.dataclass(frozen=True)
class Finding:
    """One judge's finding on one case."""

    requirement: str
    """The requirement's id."""

    outcome: str
    """One of :data:`OUTCOMES`."""

    kind: str = ""
    """The way of failing, one of :data:`KINDS`; empty for other outcomes."""

    words: str = ""
    """The finding in a sentence."""

    expected: Any = None
    """The expected data, if they tell more than the words."""

    got: Any = None
    """The delivered data."""

    workload: str = ""
    """The case's workload kind, filled in by ``judges.judge`` and :func:`place`."""

    workers: tuple[int, ...] = ()
    """The worker counts of its sessions."""

    case: str = ""
    """Its id."""

    needs: tuple[str, ...] = ()
    """Requirements that this finding presupposes, beside those that its requirement always does."""

    feature: str = ""
    """The unusual features of the case's workload, filled in likewise."""

    evidence: Evidence | None = dataclasses.field(default=None, compare=False)
    """The observation that shows it again, in a failure's script."""


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a requirement's findings on one kind of workload."""

    requirement: str
    workload: str
    outcome: str
    counts: Mapping[str, int]
    first: Finding


def place(finding: Finding, case: Case) -> Finding:
    """Return the finding with its place: the case and its workload."""
    w = case.workload
    workers = tuple(sorted({s.execution.workers for s in case.sessions}))
    return dataclasses.replace(
        finding, workload=w.kind, workers=workers, case=case.id, feature=w.feature
    )


def is_refusal(fault: Fault, delivered: int) -> bool:
    """Return whether a fault is a refusal: raised on purpose, in words, before any batch.

    ``delivered`` counts the batches since the load.

    Example:
        >>> is_refusal(Fault("raised", "ValueError", ("ValueError",), "other plan", at="load"), 0)
        True
        >>> is_refusal(Fault("raised", "KeyError", ("KeyError",), "'epoch'", at="load"), 0)
        False
    """
    if fault.kind != "raised" or delivered or fault.at not in ("open", "load", "iter", "next"):
        return False
    return not _accident(fault)


def is_slip(fault: Fault) -> bool:
    """Return whether Python raised a TypeError in an epoch, and no line of anybody's code did.

    There is no state to refuse in an uninterrupted run. A loader that takes no such data or
    sampler says so, by a line that begins with ``raise``.

    Example:
        >>> trace = 'File "deck.py", line 5, in draw\\n    items = carried + rest'
        >>> is_slip(Fault("raised", "TypeError", ("TypeError",), "no", traceback=trace, at="next"))
        True
    """
    if "TypeError" not in (fault.type, *fault.bases) or fault.at not in ("iter", "next"):
        return False
    _, found, last = fault.traceback.rpartition('File "')
    lines = last.splitlines()[1:2]
    return bool(found and lines) and not lines[0].strip().startswith("raise")


def of_fault(requirement: str, fault: Fault, delivered: int) -> Finding:
    """Return the finding on a fault: a refusal as the requirement says, else a failure."""
    words = in_words(fault, delivered)
    if fault.kind == "adapter":
        return Finding(requirement, "error", "adapter", words)
    if is_refusal(fault, delivered):
        outcome = {"passes": "pass", "refused": "refused"}.get(
            requirements.load()[requirement].refusal, "fails"
        )
        return Finding(requirement, outcome, "refusal" if outcome == "fails" else "", words)
    return Finding(requirement, "fails", fault_kind(fault, delivered), words)


def fault_kind(fault: Fault, delivered: int) -> str:
    """Return the way in which a fault fails."""
    if fault.kind in ("hang", "crash", "codec"):
        return fault.kind
    if fault.at == "state":
        return "save"
    if delivered:
        return "late error"
    if _accident(fault):
        return "bare error"
    return "error"


def _after(delivered: int | None) -> str:
    if delivered is None:
        return "within an epoch"
    return f"after {counted(delivered, 'batch')}" if delivered else "before the first batch"


def in_words(fault: Fault, delivered: int | None = None) -> str:
    """Return a fault in words; ``delivered``: the batches before it, if they are known.

    Example:
        >>> in_words(Fault("raised", "ValueError", message="other plan", at="load"))
        'ValueError: other plan (when loading)'
        >>> in_words(Fault("raised", "ValueError", message="bad row", at="next"), 2)
        'ValueError: bad row (after 2 batches)'
    """
    place = {
        "open": "when the loader is built",
        "load": "when loading",
        "iter": "before the first batch",
        "next": _after(delivered),
        "end": "at the end of the epoch",
        "state": "when saving",
        "codec": "when the state is encoded or decoded",
        "close": "when closing",
    }.get(fault.at, fault.at)
    text = last_error(fault.message)
    text = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    name = {"hang": "it hangs", "crash": f"it crashes, {fault.type}"}.get(fault.kind, fault.type)
    frame = None
    if is_refusal(fault, delivered or 0):
        # A loader refuses a state on purpose. Code that a user wrote may raise by accident.
        frame = raised_by_user(fault.traceback) if fault.at in ("iter", "next") else None
    elif fault.kind != "hang":  # the words of a hang name the line already
        frame = innermost(fault.traceback)
    if frame is not None:
        place = f"{place}, at {frame.words}"
    return f"{name}: {text} ({place})" if text else f"{name} without a message ({place})"


def block_dependents(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; a failure is *blocked* if one of its prerequisites failed.

    The prerequisite must have failed on the same kind of workload, with one of the failure's
    worker counts; if nothing judged it with such a count, with any number of workers. Its own
    workload must have no feature that the failure's lacks: a failure on an unusual workload says
    nothing about others.

    A failure that needs a requirement which presupposes the failure's own comes after that one:
    where that one failed, this one is blocked and blocks nothing.

    A case without an uninterrupted run is blocked if a Basis requirement failed there. Otherwise
    it is not offered.
    """
    found = list(findings)
    failed = _failed(found)
    settled = [_blocked(f, failed) if _comes_after_dependents(f) else f for f in found]
    failed = _failed(settled)
    return [_blocked(f, failed) for f in settled]


def _comes_after_dependents(finding: Finding) -> bool:
    """Return whether a finding needs a requirement that presupposes the finding's own."""
    return any(finding.requirement in presupposed(needed) for needed in finding.needs)


def _failed(findings: Iterable[Finding]) -> dict[_Place, set[frozenset[str]]]:
    """Return the places at which requirements were judged, each with its failures' features."""
    failed: dict[_Place, set[frozenset[str]]] = {}
    for f in findings:
        if f.outcome in {*FAILURES, "pass", "refused"}:
            for count in f.workers:
                for place in {count, _WORKERS if count else 0}:
                    features = failed.setdefault((f.requirement, f.workload, place), set())
                    if f.outcome in FAILURES:
                        features.add(_features(f))
    return failed


_Place = tuple[str, str, int]
"""A requirement, a kind of workload, and a worker count or :data:`_WORKERS`."""

_WORKERS = -1
"""Stands for all worker counts but 0."""


def _features(finding: Finding) -> frozenset[str]:
    return frozenset(filter(None, finding.feature.split(", ")))


def _blocked(finding: Finding, failed: Mapping[_Place, set[frozenset[str]]]) -> Finding:
    if finding.outcome in FAILURES:
        needed = (*presupposed(finding.requirement), *finding.needs)
    elif finding.outcome == "not offered" and finding.kind == "oracle":
        needed = _RUNS
    else:
        return finding
    for requirement in needed:
        for count in finding.workers:
            place = requirement, finding.workload, count
            if place not in failed and count:
                place = requirement, finding.workload, _WORKERS
            if any(features <= _features(finding) for features in failed.get(place, ())):
                words = f"{requirement} fails here ({finding.words})"
                return dataclasses.replace(finding, outcome="blocked", words=words)
    return finding


def aggregate(findings: Iterable[Finding]) -> list[Result]:
    """Return the result of the findings for each requirement and kind of workload.

    The results are in the specification's order. Findings need their place: ``judges.judge`` fills
    it in, and so does :func:`place`.
    """
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in block_dependents(findings):
        groups.setdefault((finding.requirement, finding.workload), []).append(finding)
    order = {name: i for i, name in enumerate(requirements.load())}
    results = []
    for (requirement, workload), members in groups.items():
        counts = Counter(f.outcome for f in members)
        outcome = worst(counts)
        first = next(f for f in members if f.outcome == outcome)
        results.append(Result(requirement, workload, outcome, dict(counts), first))
    return sorted(results, key=lambda r: (order[r.requirement], r.workload))


def worst(counts: Mapping[str, int]) -> str:
    """Return the outcome that decides.

    Example:
        >>> worst({"pass": 40, "not offered": 2, "refused": 1})
        'refused'
    """
    return next(outcome for outcome in OUTCOMES if counts.get(outcome))


def class_words(results: Iterable[Result]) -> str:
    """Return a class's coverage in words.

    Example:
        >>> finding = Finding("EPOCH-1", "pass")
        >>> class_words([Result("EPOCH-1", "map", "pass", {"pass": 3, "not offered": 2}, finding)])
        'exact 3 of 3, 2 not offered'
    """
    counts: Counter[str] = Counter()
    for result in results:
        counts.update(result.counts)
    rest = [f"{counts[o]} {o}" for o in OUTCOMES if o != "pass" and counts[o]]
    judged = counts.total() - counts["not offered"]
    return ", ".join([*([f"exact {counts['pass']} of {judged}"] if judged else []), *rest])


def _accident(fault: Fault) -> bool:
    return not NO_REFUSALS.isdisjoint((fault.type, *fault.bases)) or not fault.message.strip()
