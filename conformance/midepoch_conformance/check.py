"""A check: one loader, one table of cases, and what is wrong with it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from typing import Any, TypeVar

from hypothesis import __version__ as HYPOTHESIS  # noqa: N812 - a constant, named as one

from midepoch_conformance import cases, judges, requirements
from midepoch_conformance.bench import Bench, Engine, Oracles
from midepoch_conformance.case import Case
from midepoch_conformance.events import (
    CaseResult,
    CasesJudged,
    Event,
    Failure,
    Investigating,
    Listener,
    Started,
)
from midepoch_conformance.failures import failing_groups, investigate
from midepoch_conformance.report import report_header
from midepoch_conformance.runner import LoaderInfo, Runner, RunnerError
from midepoch_conformance.scripts import Scripts
from midepoch_conformance.settings import CheckError, Settings
from midepoch_conformance.smoke import smoke
from midepoch_conformance.strategies import draw_cases
from midepoch_conformance.summary import (
    Summary,
    prerequisite_cases,
    settled_results,
    summarise,
)

__all__ = [
    "Check",
    "load_table",
    "open_benches",
    "run_check",
    "wanted_requirements",
]

DRAWN, DRAWN_SEED = 400, 1
"""How many cases ``full`` draws beside its table, and from which seed."""

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Check:
    """What came of a check: everything that reports are made of."""

    header: dict[str, Any]
    results: list[CaseResult]
    summary: Summary
    failures: list[Failure]
    seconds: float = 0.0

    @property
    def status(self) -> int:
        """Return the exit status: 0, 1 where a MUST fails, 2 where something else went wrong."""
        if self.failures:
            return 1
        return 2 if self.summary.errors else 0


def run_check(
    settings: Settings,
    listen: Listener = lambda event: None,
    opener: Callable[[], Engine] | None = None,
) -> Check:
    """Judge a loader by the cases of a profile.

    Args:
        settings: what to check.
        listen: is told what happens, from any thread but one event at a time.
        opener: opens what plays cases; a :class:`~midepoch_conformance.runner.Runner` on the
            loader where not given.

    Returns:
        The results in the table's order, whatever the number of jobs.

    Raises:
        CheckError: nothing can be judged; the text says why.
    """
    began = time.monotonic()
    only = wanted_requirements(settings.only)
    table = load_table(settings.profile)
    listen = locked(listen)
    with open_benches(settings, opener) as benches:
        smoke(benches[0])
        info = benches[0].info
        header = check_header(info, settings, only)
        if settings.profile == "full":
            header["drawn"] = {"seed": DRAWN_SEED, "cases": DRAWN, "by": f"hypothesis {HYPOTHESIS}"}
            table += draw_cases(info.offer, DRAWN, DRAWN_SEED, only)
        # A drawn case may be in the table already.
        table = list({case.id: case for case in table}.values())
        chosen = [case for case in table if asked(case, only)]
        listen(Started(header, len(chosen)))
        results = settle_all(benches, judge_all(benches, chosen, listen), table, only)
        failures = find_failures(benches, results, settings, listen)
    return Check(header, results, summarise(results), failures, time.monotonic() - began)


def asked(case: Case, only: frozenset[str] | None) -> bool:
    """Return whether any judge looks at ``case`` that is asked about."""
    return any(only is None or name in only for name in judges.applicable(case))


def settle_all(
    benches: list[Bench],
    results: list[CaseResult],
    table: list[Case],
    only: frozenset[str] | None = None,
) -> list[CaseResult]:
    """Return the results with what is blocked as *blocked*, and what is not asked about left out.

    Where not all requirements are asked about, what the failing ones presuppose is judged too.
    """
    others: list[CaseResult] = []
    if only is not None:
        found = [f for result in results for f in result.findings if f.requirement in only]
        played = {result.case.id for result in results}
        others = judge_all(benches, prerequisite_cases(table, found, played), lambda event: None)
    settled = settled_results([*results, *others])[: len(results)]
    return [
        dataclasses.replace(
            result,
            findings=tuple(f for f in result.findings if only is None or f.requirement in only),
        )
        for result in settled
    ]


def check_header(
    info: LoaderInfo, settings: Settings, only: frozenset[str] | None
) -> dict[str, Any]:
    """Return the report's header for this check."""
    loader = {
        "spec": settings.loader,
        "function": info.function,
        "name": info.name,
        "version": info.version,
        "python": info.python,
        "platform": info.platform,
        "packages": info.packages,
        "reasons": info.offer.reasons,
    }
    return report_header(loader, settings.profile, only)


def find_failures(
    benches: list[Bench], results: list[CaseResult], settings: Settings, listen: Listener
) -> list[Failure]:
    """Return what fails, each with its smallest case and its script, in the table's order."""
    full = settings.profile == "full"
    groups = failing_groups(results, by_kind=full)
    smaller = full if settings.shrink is None else settings.shrink
    scripts = None
    if settings.scripts is not None and groups:
        scripts = Scripts(settings.scripts, settings.python)

    def look(bench: Bench, number: int) -> Failure:
        group = groups[number]
        listen(Investigating(group.requirement, group.workload_kind, number + 1, len(groups)))
        return investigate(bench, group, scripts, smaller)

    return _share(benches, look, range(len(groups)))


def wanted_requirements(only: Sequence[str]) -> frozenset[str] | None:
    """Return the ids that ``only`` names by id or by class; None for all.

    Raises:
        CheckError: a name is neither.

    Example:
        >>> sorted(wanted_requirements(["interval", "resume-1"]))
        ['INTERVAL-1', 'RESUME-1']
    """
    wanted: set[str] = set()
    for name in only:
        known = requirements.load().values()
        ids = {r.id for r in known if name.lower() in (r.id.lower(), r.cls.lower())}
        if not ids:
            raise CheckError(
                f"unknown requirement or class {name!r}", "`midepoch list` shows all of them"
            )
        wanted |= ids
    return frozenset(wanted) or None


def load_table(profile: str) -> list[Case]:
    """Return a profile's cases.

    Raises:
        CheckError: there is no such profile, or its table cannot be read.
    """
    try:
        return cases.load_table(profile)
    except cases.TableError as error:
        raise CheckError(str(error)) from error


@contextlib.contextmanager
def open_benches(
    settings: Settings, opener: Callable[[], Engine] | None = None
) -> Iterator[list[Bench]]:
    """Open a bench a job on the loader; the first has made sure that it can be reached.

    Raises:
        CheckError: it cannot be reached.
    """
    oracles = Oracles()
    with contextlib.ExitStack() as stack:
        try:
            engines = [
                stack.enter_context(
                    opener() if opener else Runner(settings.loader, settings.python)
                )
                for _ in range(settings.threads)
            ]
            benches = [Bench(engine, oracles) for engine in engines]
            benches[0].info  # noqa: B018 - reaching the loader is what is asked for
        except RunnerError as error:
            raise CheckError(error.message, error.hint) from error
        yield benches


def judge_all(
    benches: list[Bench], table: list[Case], listen: Listener, first: int = 0
) -> list[CaseResult]:
    """Judge all cases; the results are in the table's order, numbered from ``first``."""
    done = itertools.count(1)
    lock = threading.Lock()

    def judge(bench: Bench, index: int) -> CaseResult:
        result = bench.judge(table[index], first + index)
        with lock:
            listen(CasesJudged(result, next(done), len(table)))
        return result

    return _share(benches, judge, range(len(table)))


def _share(
    benches: list[Bench], work: Callable[[Bench, int], T], numbers: Iterable[int]
) -> list[T]:
    """Run ``work`` for all numbers, each on a bench that is free; results in order."""
    idle = SimpleQueue[Bench]()
    for bench in benches:
        idle.put(bench)

    def task(number: int) -> T:
        bench = idle.get()
        try:
            return work(bench, number)
        finally:
            idle.put(bench)

    with ThreadPoolExecutor(len(benches)) as pool:
        futures: list[Future[T]] = [pool.submit(task, number) for number in numbers]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [future.result() for future in futures]


def locked(listen: Listener) -> Listener:
    """Return a listener that hears one event at a time."""
    lock = threading.Lock()

    def one_at_a_time(event: Event) -> None:
        with lock:
            listen(event)

    return one_at_a_time
