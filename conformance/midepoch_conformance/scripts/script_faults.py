"""What a failure's script compares where something fails, is left behind or costs (pure text).

The expressions are those of ``script_checks.py``.
"""

from __future__ import annotations

from collections.abc import Sequence

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.scripts.script_checks import SILENT, Check, batches, delivered, register
from midepoch_conformance.scripts.script_sessions import NAMES
from midepoch_conformance.verdict.finding import Finding

__all__: list[str] = []


@register("FAULT-1", "FAULT-3")
def _errs(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"an error in time"',
        got="@first",
        shows='not got or not is_error(got[-1]) or got[-1][0].startswith("died")',
    )


@register("FAULT-2")
def _reaches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    bad = case.workload.fail_at
    good = f"itertools.takewhile(lambda batch: {bad} not in batch, @whole)"
    return Check(
        expected=f'[*{good}, "its error"]',
        got="@first",
        shows='got[:-1] != expected[:-1] or "on purpose" not in str(got[-1:])',
        sessions=(0,),
        ids=True,
    )


@register("FAULT-5", "RESUME-7")
def _goes_on(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """Each session goes on where the one before it has saved, errors that are caught or not."""
    w = case.workload
    if w.fail_at is None:
        return batches(case, finding, lengths)
    at_once = ("the exception of sample", "raises, and then")
    if finding.requirement == "FAULT-5" and any(words in finding.words for words in at_once):
        least = w.n - w.batch_size
        return Check(
            expected=f'"in {w.epochs} epochs all samples but those of the failed batch, each once"',
            got="[i for batch in @first for i in batch]",
            shows=f"len(got) < {w.epochs * least} or "
            f"any(got.count(i) > {w.epochs} for i in range({w.n}))",
            sessions=(0,),
            steps=((0, _to_the_end(case)),),
            quiet=True,
            caught=True,
            ids=True,
        )
    steps = _chained(case)
    if steps is None:
        return batches(case, finding, lengths)
    return Check(
        expected="@whole",
        got=f"{delivered(case)}[: len(expected)]",
        steps=tuple(enumerate(steps)),
        quiet=True,
        caught=True,
    )


def _chained(case: Case) -> list[tuple[Step, ...]] | None:
    """Return the sessions' steps as far as the next one goes on from them; None if it does not.

    The last session goes on to the end: an epoch takes two drains, the first up to the error.
    """
    found: list[tuple[Step, ...]] = []
    for number, plan in enumerate(case.sessions):
        begun = plan.steps[:1] if number else ()
        rest = plan.steps[len(begun) :]
        if any(step.do not in ("take", "drain", "save") for step in rest):
            return None
        if number:
            saves = [i for i, step in enumerate(found[-1]) if _is(step, "save", begun[0].state)]
            if begun[0].do != "load" or not saves:
                return None
            found[-1] = found[-1][: saves[-1] + 1]
        found.append(plan.steps)
    steps = found[-1]
    while steps and steps[-1].do != "load":
        steps = steps[:-1]
    return [*found[:-1], (*steps, *_to_the_end(case))]


def _to_the_end(case: Case) -> tuple[Step, ...]:
    return (Step("drain", tolerate=True),) * (2 * case.workload.epochs)


def _is(step: Step, do: str, state: str) -> bool:
    return (step.do, step.state) == (do, state)


@register("FAULT-6")
def _after_a_death(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The epoch is looked at in which a worker dies."""
    silent = finding.outcome == "fails silently"
    last = len(case.sessions) - 1
    return Check(
        expected="@whole",
        got=delivered(case),
        shows=SILENT if silent else f"got != expected and not refused(@{NAMES[last]})",
        steps=((last, (Step("load", state=case.sessions[last].steps[0].state), Step("drain"))),),
        epochs=1,
        quiet=True,
    )


@register("FAULT-4")
def _left(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(expected='"no processes left"', got="@first[-1][0]", shows="got != 0")


@register("FAULT-7")
def _held(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"no more processes, threads and descriptors after each round"',
        got="[seen[0] for seen in @first if isinstance(seen[0], list)]",
        shows="any([*counts] == sorted(set(counts)) for counts in zip(*got))",
    )


@register("COST-1")
def _sizes(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"about as many bytes in a late state as in an early one"',
        got='[seen[1] for seen in @first if seen[0] == "bytes"]',
        shows="got[-1] - got[0] > 256",
        notes="size",
    )


@register("COST-2", "COST-4", "COST-5")
def _at_most(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    what = {"COST-2": "calls of state_dict", "COST-4": "calls of iter", "COST-5": "fetches"}
    name = NAMES[len(case.sessions) - 1]
    return Check(
        expected=f'"at most {finding.expected} {what[finding.requirement]}"',
        got=f"@{name}[-1][0]",
        shows=f"got > {finding.expected}",
        notes="calls",
        word={"COST-2": "state_dict", "COST-4": "iter", "COST-5": "fetch"}[finding.requirement],
    )


@register("COST-3")
def _fetches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"about as many samples fetched by a late resume as by an early one"',
        got="[seen[-1][0] for seen in (@second, @third)]",
        shows=f"got[1] - got[0] > {400 * case.workload.batch_size}",
        notes="calls",
        word="fetch",
    )
