"""A check: plays a table of cases on one loader, judges them, and investigates failures."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import __version__ as HYPOTHESIS  # noqa: N812 - a constant, named as one

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.case.case import HISTORIES, HISTORY, OF_STAGES, PROGRAM, Case
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.families.offered import cases_for
from midepoch_conformance.playing.bench import Bench, CertainFailures, Engine, Oracles, share
from midepoch_conformance.playing.hangs import Hangs
from midepoch_conformance.playing.runner import Runner, RunnerError
from midepoch_conformance.playing.turns import Turns
from midepoch_conformance.run.events import (
    Found,
    Investigating,
    Listener,
    Replaying,
    Started,
)
from midepoch_conformance.run.failures import (
    Group,
    by_harm,
    distinct,
    failing_groups,
    shown,
    smallest,
)
from midepoch_conformance.run.judging import Counts, judge_all, locked, offered
from midepoch_conformance.run.known import cover, replay
from midepoch_conformance.run.measure import NO_ADAPTER, measure
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import MORE_TIME, advice_of, smoke
from midepoch_conformance.run.summary import (
    prerequisite_cases,
    summarise,
    unjudged,
    with_blocked,
)
from midepoch_conformance.scripts.write import Scripts
from midepoch_conformance.search.programs import draw_programs
from midepoch_conformance.search.ranks import draw_rank_histories
from midepoch_conformance.search.steering import Drawn, draw_histories
from midepoch_conformance.search.strategies import draw_cases
from midepoch_conformance.text import meant
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import CaseResult, Check, Facts, Failure, Known, Replayed

__all__ = [
    "load_table",
    "open_benches",
    "run_check",
    "wanted_requirements",
]

JUDGED, JUDGED_OF_STAGES = (
    frozenset(j.requirement for j in judges.REGISTRY.values() if {*families} & {*j.families})
    for families in ((HISTORY, PROGRAM), OF_STAGES)
)
"""The requirements for which histories and programs are judged, and histories of ranks."""

DRAWN, SEED = 400, 1
"""The number of cases of all families that ``full`` draws beside its table, and the seed of all
that is drawn."""


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
            :class:`~midepoch_conformance.playing.runner.Runner` on the loader.
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
        for bench in benches:
            bench.begin()
        info = benches[0].info
        if settings.measure and info.function:
            raise CheckError(*NO_ADAPTER)
        more, drawn = draw(settings.profile, benches[0], only)
        table += more
        # A drawn case may be in the table already.
        table = cases_for(info, table)
        chosen = [case for case in table if asked(case, only)]
        facts = facts_of(info, settings, only)
        counts = Counts(offered(benches[0], chosen), sum(r.reason is None for r in earlier))
        facts = dataclasses.replace(
            facts,
            table=tables.table_digest(chosen),
            cases=len(chosen),
            offered=counts.cases,
            drawn=drawn,
        )
        listen(Started(facts, counts.cases, counts.done))
        if [r.case.id for r in earlier] != [case.id for case in chosen[: len(earlier)]]:
            raise CheckError("the earlier results are not the beginning of this table")
        replayed = replay_known(benches, known, listen)
        played = judge_all(benches, chosen, listen, skip=len(earlier), counts=counts)
        results = [*earlier, *played]
        results = block_dependents(benches, results, table, only)
        replayed, unknown = cover(replayed, results)

        def so_far(failures: list[Failure]) -> Check:
            seconds = time.monotonic() - began
            rows, missing = summarise(results), unjudged(results, settings.only)
            return Check(facts, results, rows, failures, seconds, replayed, missing)

        failures = find_failures(benches, unknown, settings, listen, so_far)
        measured = measure(benches[0]) if settings.measure else None
    return dataclasses.replace(so_far(failures), measured=measured)


def draw(
    profile: str, bench: Bench, only: frozenset[str] | None
) -> tuple[list[Case], dict[str, Any]]:
    """Return the cases that a profile draws beside its table, and how they were drawn."""
    offer = bench.info.offer
    cases, histories, programs = [], Drawn([], {}), list[Case]()
    if only is None or only & JUDGED:
        histories = draw_histories(profile, offer, SEED, bench.declines)
        programs = draw_programs(profile, offer, SEED, bench.declines)
    ranks: list[Case] = []
    if only is None or only & JUDGED_OF_STAGES:
        ranks = draw_rank_histories(profile, offer, SEED, bench.declines)
    if profile == "full":
        cases = draw_cases(offer, DRAWN, SEED, only)
    drawn = {
        "seed": SEED,
        "cases": len(cases),
        "histories": len(histories.cases) + len(programs) + len(ranks),
        "by": f"hypothesis {HYPOTHESIS}" if cases else "the suite",
        "unreached": [
            {"pair": [list(one), list(other)], "reason": reason}
            for (one, other), reason in histories.unreached.items()
        ],
    }
    return cases + histories.cases + programs + ranks, drawn


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
    return Facts(settings.loader, info, settings.profile, only, started, options=settings.options)


def replay_known(benches: list[Bench], known: Sequence[Known], listen: Listener) -> list[Replayed]:
    """Replay the cases of known failures, before all others."""

    def look(bench: Bench, number: int) -> Replayed:
        entry = known[number]
        listen(Replaying(entry.requirement, entry.link, number + 1, len(known)))
        return replay(bench.judge, entry)

    return share(benches, look, range(len(known)))


def find_failures(
    benches: list[Bench],
    results: list[CaseResult],
    settings: Settings,
    listen: Listener,
    so_far: Callable[[list[Failure]], Check],
    until: float = math.inf,
) -> list[Failure]:
    """Return the failures, each with its smallest case and its script, the most harmful first.

    An event tells of the check before any script is written: ``so_far`` makes it of the failures.
    Later than ``until`` no case is made smaller, and a script is tried of the smallest case alone.
    """
    full = settings.profile == "full"
    groups = failing_groups(results, by_kind=full)

    def waits(group: Group) -> bool:
        return any(plan.execution.workers for plan in group.members[0][0].sessions)

    def smaller(group: Group) -> bool:
        """Return whether a group's case is made smaller; a drawn one always needs it."""
        drawn = group.members[0][0].probe in HISTORIES
        return full or drawn if settings.shrink is None else settings.shrink

    # A search with workers may wait for them: it begins first, so that others go on meanwhile.
    order = sorted(range(len(groups)), key=lambda n: not (smaller(groups[n]) and waits(groups[n])))

    def shrink(bench: Bench, place: int) -> Failure:
        group = groups[order[place]]
        if smaller(group):
            tell(group, place, len(groups), "searching for its smallest case")
        return smallest(bench, group, smaller(group), until=until)

    def show(bench: Bench, number: int) -> Failure:
        group, failure = found[number]
        doing = "writing and running its script" if scripts else "playing it again, to draw it"
        tell(group, number, len(found), doing)
        return shown(bench, group, failure, scripts, smaller(group), until)

    def tell(group: Group, number: int, count: int, doing: str) -> None:
        listen(Investigating(group.requirement, group.workload_kind, number + 1, count, doing))

    done = dict(zip(order, share(benches, shrink, range(len(order))), strict=True))
    shrunk = [done[number] for number in range(len(groups))]
    found = by_harm(distinct(zip(groups, shrunk, strict=True), by_kind=full))
    listen(Found(so_far([failure for _, failure in found])))
    folder = settings.scripts
    with Scripts(folder, settings.python) if folder else contextlib.nullcontext() as scripts:
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
                f"unknown requirement or class {name!r}",
                meant(name, {word for r in known for word in (r.id, r.cls)})
                or "`midepoch list` shows all of them",
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
        raise CheckError(str(error), meant(profile, tables.PROFILES)) from error


@contextlib.contextmanager
def open_benches(
    settings: Settings, opener: Callable[[], Engine] | None = None
) -> Iterator[list[Bench]]:
    """Open a bench for each job; the first one makes sure that the loader can be reached.

    Raises:
        CheckError: it cannot be reached.
    """
    oracles, turns, hangs = Oracles(), Turns(), Hangs(settings.timeout)
    certain = CertainFailures()
    with contextlib.ExitStack() as stack:
        try:
            engines = [
                stack.enter_context(
                    opener()
                    if opener
                    else Runner(settings.loader, settings.python, start=settings.timeout)
                )
                for _ in range(settings.threads)
            ]
            benches = [Bench(engine, oracles, turns, hangs, certain) for engine in engines]
            benches[0].begin()
            if benches[0].info.offer.exclusive:
                for bench in benches:
                    bench.be_exclusive()
        except RunnerError as error:
            hint = advice_of(error)
            if error.kind == "limit":
                hint = f"{hint}\n{MORE_TIME}".strip()
            raise CheckError(error.message, hint) from error
        yield benches
