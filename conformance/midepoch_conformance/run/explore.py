"""``midepoch explore``: draws and judges cases beyond the tables, until it is stopped."""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import time
from collections.abc import Callable, Iterable, Sequence

from midepoch_conformance.case.case import Case, has_workers
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.playing.bench import Bench, Engine
from midepoch_conformance.run.check import (
    JUDGED,
    JUDGED_OF_STAGES,
    asked,
    block_dependents,
    facts_of,
    find_failures,
    open_benches,
    wanted_requirements,
)
from midepoch_conformance.run.events import Listener, Started
from midepoch_conformance.run.judging import Counts, Stopped, judge_all, locked, offered
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import smoke
from midepoch_conformance.run.summary import prerequisite_cases, summarise, unjudged
from midepoch_conformance.search.draws import Chance
from midepoch_conformance.search.programs import draw_program
from midepoch_conformance.search.ranks import draw_rank_history
from midepoch_conformance.search.steering import Steering, different
from midepoch_conformance.search.strategies import INLINE_OF, draw_cases
from midepoch_conformance.verdict.results import CaseResult, Check, Failure, failing

__all__ = ["Goal", "draw_round", "explore"]

OF_RANKS = 10
"""A round has one history of ranks in so many cases, if the loader has such ranks."""

ROUND, FIRST = 100, 10
"""Cases that are drawn at a time: half of them of the tables' families, half histories.

The first rounds are smaller: a short run then plays more than it draws.
"""

EMPTY = 20
"""After so many rounds in a row without a new case, exploring ends."""


KEPT, MOST_KEPT = 0.1, 60.0
"""The part of the time that is kept for smaller cases, and as much again for scripts, if any case
fails; and the most seconds."""


@dataclasses.dataclass
class Goal:
    """When to stop; the first limit that is reached counts."""

    seconds: float | None = None
    """No case begins later than this. If any fails, cases end earlier: what is found is made
    smaller, and written, in the time that is left."""
    cases: int | None = None
    """The number of cases to judge."""
    workers: int | None = None
    """The number of them with workers; one in twenty if None."""

    def __post_init__(self) -> None:
        self.began = time.monotonic()
        if self.workers is not None and self.cases is None:
            raise CheckError("--with-workers needs --cases", "say how many cases in all: --cases N")
        if self.workers is not None and self.workers > (self.cases or 0):
            raise CheckError(f"--with-workers {self.workers} is more than --cases {self.cases}")

    @property
    def until(self) -> float:
        """When the time is up, by ``time.monotonic``."""
        return math.inf if self.seconds is None else self.began + self.seconds

    @property
    def smaller_until(self) -> float:
        """When failing cases are no longer made smaller: their scripts come then."""
        return self.until if self.seconds is None else self.until - self._kept

    def cases_until(self, judged: Iterable[CaseResult]) -> float:
        """Return when the last case may begin."""
        fails = any(failing(finding) for result in judged for finding in result.findings)
        return self.smaller_until - self._kept if fails else self.until

    @property
    def _kept(self) -> float:
        return min(MOST_KEPT, KEPT * (self.seconds or 0))

    def share(self) -> int:
        """Return the number of cases with workers in a round."""
        if self.workers is None or not self.cases:
            return ROUND // INLINE_OF
        return round(ROUND * self.workers / self.cases)

    def wanted(self, judged: Sequence[CaseResult], multi: bool) -> int:
        """Return the number of cases still to judge, with workers or without."""
        if self.cases is None:
            return ROUND
        workers = self.workers if self.workers is not None else self.cases // INLINE_OF
        goal = workers if multi else self.cases - workers
        return goal - sum(r.reason is None and has_workers(r.case) == multi for r in judged)

    def reached(self, judged: Sequence[CaseResult]) -> bool:
        """Return whether the goal is reached."""
        if time.monotonic() >= self.cases_until(judged):
            return True
        return all(self.wanted(judged, multi) <= 0 for multi in (False, True))


def draw_round(
    steering: Steering,
    seed: int,
    share: int,
    only: frozenset[str] | None = None,
    size: int = ROUND,
) -> list[Case]:
    """Return the cases of one round, ``share`` of them with workers, if the loader has any.

    The round's histories reach what those of the rounds before have not.
    """
    offer = steering.offer
    share = share if max(offer.workers, default=0) else 0
    drawn: list[Case] = []
    for multi, count in ((False, size - share), (True, share)):
        histories = count // 2 if only is None or only & JUDGED else 0
        ranks: list[Case] = []
        if only is None or only & JUDGED_OF_STAGES:
            chance = Chance(f"{seed}/{multi} of ranks")
            few = count // OF_RANKS
            ranks = different(draw_rank_history, few, offer, chance, multi, steering.declines)
        programs: list[Case] = []
        if histories:
            chance = Chance(f"{seed}/{multi} of programs")
            few = histories // 3
            programs = different(draw_program, few, offer, chance, multi, steering.declines)
            histories -= len(programs)
        others = count - histories - len(programs) - len(ranks)
        drawn += draw_cases(offer, others, seed, only, multi=multi)
        drawn += steering.choose(histories, Chance(f"{seed}/{multi}"), multi) + programs + ranks
    return drawn


def explore(
    settings: Settings,
    goal: Goal | None = None,
    seed: int | None = None,
    listen: Listener = lambda event: None,
    opener: Callable[[], Engine] | None = None,
) -> Check:
    """Judge a loader by drawn cases until the goal is reached, or until Ctrl-C.

    The same seed draws the same cases, in the same order.

    Raises:
        CheckError: nothing can be judged; the text says why.
    """
    goal = goal or Goal()
    seed = random.SystemRandom().getrandbits(32) if seed is None else seed
    only = wanted_requirements(settings.only)
    listen = locked(listen)
    results: list[CaseResult] = []
    with open_benches(settings, opener) as benches:
        smoke(benches[0])
        info = benches[0].info
        facts = dataclasses.replace(facts_of(info, settings, only), seed=seed)
        seen: set[str] = set()
        empty = 0
        pace = 0.0  # the seconds that drawing a case takes
        steering = Steering(info.offer, benches[0].declines)
        try:
            for number in itertools.count(seed):
                size = min(ROUND, FIRST << (number - seed))
                share = round(goal.share() * size / ROUND)
                began = time.monotonic()
                if number > seed and began + pace * size >= goal.cases_until(results):
                    break
                drawn = draw_round(steering, number, share, only, size)
                pace = (time.monotonic() - began) / size
                new = {c.id: c for c in drawn if c.id not in seen and asked(c, only)}
                seen |= set(new)
                table = _as_wanted(list(new.values()), goal, results)
                done = sum(result.reason is None for result in results)
                counts = Counts(done + offered(benches[0], table), done)
                if table or number == seed:
                    listen(Started(facts, *counts))
                until = goal.cases_until(results)
                first = len(results)
                results += judge_all(
                    benches, table, listen, first=first, until=until, counts=counts
                )
                empty = 0 if table else empty + 1
                if goal.reached(results) or empty == EMPTY:
                    break
        except Stopped as stopped:
            results += stopped.results
        except KeyboardInterrupt:
            # The report has the results until now.
            pass
        quick = tables.load_table("quick")
        # Half of the time for smaller cases: these tell which of the failures are consequences.
        half = (goal.cases_until(results) + goal.smaller_until) / 2
        others = _presupposed(benches, results, quick, only, half)
        known = block_dependents(benches, [*results, *others], quick, only)
        # A failure among the others is why what was drawn is blocked.
        results = [
            r for n, r in enumerate(known) if n < len(results) or any(map(failing, r.findings))
        ]

        def so_far(failures: list[Failure]) -> Check:
            seconds = time.monotonic() - goal.began
            missing = unjudged(results, settings.only)
            return Check(facts, results, summarise(results), failures, seconds, unjudged=missing)

        failures = find_failures(benches, results, settings, listen, so_far, goal.smaller_until)
    return so_far(failures)


def _as_wanted(drawn: list[Case], goal: Goal, judged: list[CaseResult]) -> list[Case]:
    """Return the drawn cases, at most as many with and without workers as are still wanted."""
    parts = {multi: [c for c in drawn if has_workers(c) == multi] for multi in (False, True)}
    kept = {c.id for m, part in parts.items() for c in part[: max(0, goal.wanted(judged, m))]}
    return [case for case in drawn if case.id in kept]


def _presupposed(
    benches: list[Bench],
    results: list[CaseResult],
    quick: list[Case],
    only: frozenset[str] | None,
    until: float,
) -> list[CaseResult]:
    """Judge the prerequisites of failing and blocked cases, which may not have been drawn.

    One of them is judged even if the time is up: without it, a blocked case would hide a failure.
    If only some requirements are asked about, :func:`block_dependents` does it.
    """
    if only is not None:
        return []
    found = [f for result in results for f in result.findings]
    played = {result.case.id for result in results}
    needed = prerequisite_cases(quick, found, played, blocked=True)
    first = judge_all(benches, needed[:1], lambda event: None)
    return first + judge_all(benches, needed[1:], lambda event: None, until=until)
