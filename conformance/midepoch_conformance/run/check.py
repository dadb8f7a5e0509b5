"""A check: plays a table of cases on one loader, judges them, and investigates failures."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import itertools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import __version__ as HYPOTHESIS  # noqa: N812 - a constant, named as one

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import HISTORY, Case
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.run.bench import Bench, Engine, Oracles, share
from midepoch_conformance.run.events import (
    CasesJudged,
    Event,
    Investigating,
    Listener,
    Replaying,
    Started,
)
from midepoch_conformance.run.failures import Group, distinct, failing_groups, shown, smallest
from midepoch_conformance.run.known import cover, replay
from midepoch_conformance.run.runner import Runner, RunnerError
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import smoke
from midepoch_conformance.run.summary import (
    prerequisite_cases,
    summarise,
    with_blocked,
)
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.search.steering import Drawn, draw_histories
from midepoch_conformance.search.strategies import draw_cases
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import CaseResult, Check, Facts, Failure, Known, Replayed

__all__ = [
    "Stopped",
    "load_table",
    "open_benches",
    "run_check",
    "wanted_requirements",
]

JUDGED = frozenset(j.requirement for j in judges.REGISTRY.values() if HISTORY in j.families)
"""The requirements for which histories are judged."""

DRAWN, SEED = 400, 1
"""The number of cases of all families that ``full`` draws beside its table, and the seed of all
that is drawn."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C while cases are judged."""

    results: list[CaseResult]
    """The results until then, in the table's order."""

    def __init__(self, results: list[CaseResult]) -> None:
        super().__init__("stopped")
        self.results = results


def run_check(
    settings: Settings,
    listen: Listener = lambda event: None,
    opener: Callable[[], Engine] | None = None,
    earlier: Sequence[CaseResult] = (),
) -> Check:
    """Judge a loader by the cases of a profile.

    Args:
        settings: the loader and how to check it.
        listen: receives the events, from any thread but one at a time.
        opener: opens an engine that plays cases; by default a
            :class:`~midepoch_conformance.run.runner.Runner` on the loader.
        earlier: the first results, in the table's order, if an interrupted run is continued.

    Returns:
        The results in the table's order, whatever the number of jobs.

    Raises:
        CheckError: nothing can be judged; the text says why.
        Stopped: Ctrl-C; it has the results so far.
    """
    began = time.monotonic()
    only = wanted_requirements(settings.only)
    known = [k for k in settings.known if only is None or k.requirement in only]
    table = load_table(settings.profile)
    listen = locked(listen)
    with open_benches(settings, opener) as benches:
        smoke(benches[0])
        info = benches[0].info
        more, drawn = draw(settings.profile, benches[0], only)
        table += more
        # A drawn case may be in the table already.
        table = list({case.id: case for case in table}.values())
        chosen = [case for case in table if asked(case, only)]
        facts = facts_of(info, settings, only)
        facts = dataclasses.replace(
            facts, table=tables.table_digest(chosen), cases=len(chosen), drawn=drawn
        )
        listen(Started(facts, len(chosen), len(earlier)))
        if [r.case.id for r in earlier] != [case.id for case in chosen[: len(earlier)]]:
            raise CheckError("the earlier results are not the beginning of this table")
        replayed = replay_known(benches, known, listen)
        results = [*earlier, *judge_all(benches, chosen, listen, skip=len(earlier))]
        results = block_dependents(benches, results, table, only)
        replayed, unknown = cover(replayed, results)
        failures = find_failures(benches, unknown, settings, listen)
    seconds = time.monotonic() - began
    return Check(facts, results, summarise(results), failures, seconds, replayed)


def draw(
    profile: str, bench: Bench, only: frozenset[str] | None
) -> tuple[list[Case], dict[str, Any]]:
    """Return the cases that a profile draws beside its table, and how they were drawn."""
    offer = bench.info.offer
    cases, histories = [], Drawn([], {})
    if only is None or only & JUDGED:
        histories = draw_histories(profile, offer, SEED, bench.declines)
    if profile == "full":
        cases = draw_cases(offer, DRAWN, SEED, only)
    drawn = {
        "seed": SEED,
        "cases": len(cases),
        "histories": len(histories.cases),
        "by": f"hypothesis {HYPOTHESIS}" if cases else "the suite",
        "unreached": [
            {"pair": [list(one), list(other)], "reason": reason}
            for (one, other), reason in histories.unreached.items()
        ],
    }
    return cases + histories.cases, drawn


def asked(case: Case, only: frozenset[str] | None) -> bool:
    """Return whether a wanted requirement looks at ``case``."""
    return any(only is None or name in only for name in judges.applicable(case))


def block_dependents(
    benches: list[Bench],
    results: list[CaseResult],
    table: list[Case],
    only: frozenset[str] | None = None,
) -> list[CaseResult]:
    """Return the results with *blocked* findings marked, and without requirements not asked about.

    If only some requirements are asked about, those that the failing ones presuppose are judged
    as well.
    """
    others: list[CaseResult] = []
    if only is not None:
        found = [f for result in results for f in result.findings if f.requirement in only]
        played = {result.case.id for result in results}
        others = judge_all(benches, prerequisite_cases(table, found, played), lambda event: None)
    blocked = with_blocked([*results, *others])[: len(results)]
    return [
        dataclasses.replace(
            result,
            findings=tuple(f for f in result.findings if only is None or f.requirement in only),
        )
        for result in blocked
    ]


def facts_of(info: LoaderInfo, settings: Settings, only: frozenset[str] | None) -> Facts:
    """Return the facts of a run that begins now; its table is not known yet."""
    now = datetime.datetime.now(datetime.timezone.utc)
    started = now.isoformat(timespec="seconds")
    return Facts(settings.loader, info, settings.profile, only, started)


def replay_known(benches: list[Bench], known: Sequence[Known], listen: Listener) -> list[Replayed]:
    """Replay the cases of known failures, before all others."""

    def look(bench: Bench, number: int) -> Replayed:
        entry = known[number]
        listen(Replaying(entry.requirement, entry.link, number + 1, len(known)))
        return replay(bench.judge, entry)

    return share(benches, look, range(len(known)))


def find_failures(
    benches: list[Bench], results: list[CaseResult], settings: Settings, listen: Listener
) -> list[Failure]:
    """Return the failures, each with its smallest case and its script, in the table's order."""
    full = settings.profile == "full"
    groups = failing_groups(results, by_kind=full)

    def smaller(group: Group) -> bool:
        """Return whether a group's case is made smaller; a drawn one always needs it."""
        drawn = group.members[0][0].probe == HISTORY
        return full or drawn if settings.shrink is None else settings.shrink

    scripts = None
    if settings.scripts is not None and groups:
        scripts = Scripts(settings.scripts, settings.python)

    def shrink(bench: Bench, number: int) -> Failure:
        group = groups[number]
        if smaller(group):
            tell(group, number, len(groups), "searching for its smallest case")
        return smallest(bench, group, smaller(group))

    def show(bench: Bench, number: int) -> Failure:
        group, failure = found[number]
        tell(group, number, len(found), "writing and running its script")
        return shown(bench, group, failure, scripts, smaller(group))

    def tell(group: Group, number: int, count: int, doing: str) -> None:
        listen(Investigating(group.requirement, group.workload_kind, number + 1, count, doing))

    shrunk = share(benches, shrink, range(len(groups)))
    found = distinct(zip(groups, shrunk, strict=True), by_kind=full)
    return share(benches, show, range(len(found)))


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
        return tables.load_table(profile)
    except tables.TableError as error:
        raise CheckError(str(error)) from error


@contextlib.contextmanager
def open_benches(
    settings: Settings, opener: Callable[[], Engine] | None = None
) -> Iterator[list[Bench]]:
    """Open a bench for each job; the first one makes sure that the loader can be reached.

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
    benches: list[Bench], table: list[Case], listen: Listener, first: int = 0, skip: int = 0
) -> list[CaseResult]:
    """Judge all cases but the first ``skip``; the results are in the table's order.

    Args:
        benches: they play the cases.
        table: the cases.
        listen: receives an event for each.
        first: the number of the table's first case.
        skip: the number of cases that are judged already.

    Raises:
        Stopped: Ctrl-C; it has the results before the first case that was not judged.
    """
    done = itertools.count(skip + 1)
    lock = threading.Lock()
    found: dict[int, CaseResult] = {}

    def judge(bench: Bench, index: int) -> CaseResult:
        result = bench.judge(table[index], first + index)
        with lock:
            found[index] = result
            listen(CasesJudged(result, next(done), len(table)))
        return result

    numbers = range(skip, len(table))
    try:
        return share(benches, judge, numbers)
    except KeyboardInterrupt:
        first_ones = itertools.takewhile(found.__contains__, numbers)
        raise Stopped([found[number] for number in first_ones]) from None


def locked(listen: Listener) -> Listener:
    """Return a listener that receives one event at a time."""
    lock = threading.Lock()

    def one_at_a_time(event: Event) -> None:
        with lock:
            listen(event)

    return one_at_a_time
