"""Trials of mutants: the first case that catches a mutant, made as small as possible.

``python conformance/tests/mutant_trials.py NAME...`` prints the result of each trial; without a
name it tries all mutants. ``--write`` writes the size into the mutant's ``LARGEST``. Look at the
differences: a case that grew means that the shrinker got worse.

``caught.json`` has the case that caught each mutant, written by ``--write`` too. A trial plays it
first: if it no longer catches the mutant, all others follow.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import re
import resource
import time
from pathlib import Path

import traceability

from midepoch_conformance.case.case import Case
from midepoch_conformance.families import tables
from midepoch_conformance.judges import applicable
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.failures import Group, smallest
from midepoch_conformance.run.summary import prerequisite_cases, with_blocked
from midepoch_conformance.search.shrink import size
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.results import CaseResult, failing

CAUGHT = traceability.MUTANTS / "caught.json"

LIMIT = 2.0
"""Seconds that a session of a small loader may take; each hang is played three times."""

FEW = 6
"""The number of cases of earlier requirements in a trial that is not whole."""

NUMBERS = ("workers", "sessions", "steps", "samples")
"""The sizes of a case that ``LARGEST`` names."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """The result of a trial."""

    profile: str = ""
    """The profile whose table has the case; empty if no case caught the mutant."""
    finding: Finding | None = None
    """The finding of the smallest case."""
    largest: dict[str, int] = dataclasses.field(default_factory=dict)
    """The sizes of the smallest case."""
    case: Case | None = None
    """The smallest case."""
    caught: str = ""
    """The id of the case that caught the mutant, before it was made smaller."""
    words: str = ""
    """The smallest case in words, or the reason why no case caught the mutant."""
    played: int = 0
    """The number of cases that were judged."""
    shrunk: int = 0
    """The number of plays that the shrinker took."""


def numbers(case: Case) -> dict[str, int]:
    """Return the sizes of a case that ``LARGEST`` names."""
    workers = max(plan.execution.workers for plan in case.sessions)
    steps = sum(len(plan.steps) for plan in case.sessions)
    counted = (workers, len(case.sessions), steps, case.workload.n)
    return dict(zip(NUMBERS, counted, strict=True))


@functools.cache
def by_size(profile: str) -> list[Case]:
    """Return a profile's cases, the smallest first; cases without workers come before others."""
    return sorted(tables.load_table(profile), key=size)


def trial(mutant: traceability.Mutant, *, whole: bool = True) -> Trial:
    """Play the mutant until the requirement that it names fails and is not blocked.

    A trial that is not ``whole`` judges :data:`FEW` cases of the requirements that come before,
    and does not make the case smaller.
    """
    known = caught_by().get(mutant.path.stem)
    with Runner(f"{mutant.path}:Adapter", limit=LIMIT) as runner:
        court = _Court(Bench(runner), mutant.expected, None if whole else FEW)
        for profile in tables.PROFILES:
            caught = court.first(sorted(by_size(profile), key=lambda case: case.id != known))
            if caught is not None:
                case, finding = caught
                group = Group(mutant.expected, ((case, finding),))
                failure = smallest(court.bench, group, whole)
                return Trial(
                    profile,
                    failure.finding,
                    numbers(failure.case),
                    failure.case,
                    case.id,
                    f"{failure.words}: {failure.finding.words}",
                    len(court.results),
                    failure.shrunk,
                )
        return Trial(words=court.why_not(), played=len(court.results))


class _Court:
    """Judges a mutant by one case after the other, each case once."""

    def __init__(self, bench: Bench, expected: str, few: int | None) -> None:
        self.bench, self.expected, self.few = bench, expected, few
        self.results: dict[str, CaseResult] = {}
        self.blocked: dict[tuple[str, int], str] = {}

    def first(self, table: list[Case]) -> tuple[Case, Finding] | None:
        """Return the first case that fails the expected requirement and is not *blocked*."""
        for case in table:
            if self.expected not in applicable(case) or case.id in self.results:
                continue
            if any(cell in self.blocked for cell in _cells(case)):
                continue
            if self.bench.not_offered(case) is not None:
                continue
            found = self.found(self.judge(case))
            if found is None or not failing(found):
                continue
            for needed in prerequisite_cases(table, [found], self.results)[: self.few]:
                self.judge(needed)
            settled = self.found(with_blocked([*self.results.values()])[self.at(case)])
            if settled is not None and failing(settled):
                return case, found
            words = settled.words if settled is not None else ""
            self.blocked.update(dict.fromkeys(_cells(case), words))
        return None

    def judge(self, case: Case) -> CaseResult:
        self.results[case.id] = self.bench.judge(case, len(self.results))
        return self.results[case.id]

    def at(self, case: Case) -> int:
        return list(self.results).index(case.id)

    def found(self, result: CaseResult) -> Finding | None:
        """Return the expected requirement's finding if it fails or is blocked."""
        found = [f for f in result.findings if f.requirement == self.expected]
        return next((f for f in found if failing(f) or f.outcome == "blocked"), None)

    def why_not(self) -> str:
        """Return why no case caught the mutant."""
        if self.blocked:
            return f"blocked: {next(iter(self.blocked.values()))}"
        seen = [f for r in self.results.values() for f in r.findings]
        outcomes = {f.outcome for f in seen if f.requirement == self.expected}
        return f"{self.expected} is seen in {len(self.results)} cases: {sorted(outcomes)}"


def _cells(case: Case) -> list[tuple[str, int]]:
    return [(case.workload.kind, plan.execution.workers) for plan in case.sessions]


def caught_by() -> dict[str, str]:
    """Return the case that caught each mutant last."""
    known: dict[str, str] = json.loads(CAUGHT.read_text(encoding="utf-8"))
    return known


def write_caught(found: dict[str, str]) -> None:
    """Note which cases caught mutants."""
    known = {**caught_by(), **found}
    text = json.dumps(dict(sorted(known.items())), indent=0)
    CAUGHT.write_text(f"{text}\n", encoding="utf-8")


def write(path: Path, largest: dict[str, int]) -> None:
    """Write ``largest`` into the mutant's file as its LARGEST, after EXPECTED if it has none."""
    text = path.read_text(encoding="utf-8")
    items = ", ".join(f'"{name}": {number}' for name, number in largest.items())
    line = f"LARGEST = {{{items}}}\n"
    if re.search(r"^LARGEST = .*\n", text, re.MULTILINE):
        text = re.sub(r"^LARGEST = .*\n", line, text, flags=re.MULTILINE)
    else:
        text = re.sub(r"^(EXPECTED = .*\n)", rf"\g<1>{line}", text, flags=re.MULTILINE)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Try mutants and print the results."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--write", action="store_true", help="write LARGEST into the files")
    parser.add_argument("--new", action="store_true", help="try only mutants without LARGEST")
    options = parser.parse_args()
    known = traceability.mutants()
    for name in options.names or known:
        mutant = known[name]
        if options.new and mutant.largest:
            continue
        began = time.monotonic()
        got = trial(mutant)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"{name} ({mutant.expected}): {got.profile or 'NOT CAUGHT'} {got.largest} "
            f"{'' if got.largest == mutant.largest else 'was ' + str(mutant.largest)} "
            f"[{got.played} cases, {got.shrunk} plays, {time.monotonic() - began:.1f} s, "
            f"children {used.ru_utime + used.ru_stime:.0f} s in all]\n    {got.words}",
            flush=True,
        )
        if options.write and got.profile:
            write(mutant.path, got.largest)
            write_caught({name: got.caught})


if __name__ == "__main__":
    main()
