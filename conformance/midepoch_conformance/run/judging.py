"""Judges the cases of a table on several benches, and counts those that the loader offers."""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from midepoch_conformance.case.case import Case
from midepoch_conformance.playing.bench import Bench, share
from midepoch_conformance.playing.runner import RunnerError
from midepoch_conformance.run.events import CasesJudged, Event, Listener
from midepoch_conformance.verdict.results import CaseResult

__all__ = ["Counts", "Stopped", "judge_all", "locked", "offered"]


class Stopped(KeyboardInterrupt):
    """Ctrl-C while cases are judged."""

    results: list[CaseResult]
    """The results until then, in the table's order."""

    def __init__(self, results: list[CaseResult]) -> None:
        super().__init__("stopped")
        self.results = results


class Counts(NamedTuple):
    """Numbers of cases that the loader offers: users are told of no others."""

    cases: int
    """The number of all."""
    done: int = 0
    """The number of those that are judged already."""


def offered(bench: Bench, table: Sequence[Case]) -> int:
    """Return how many cases the loader offers, before any is played.

    A case counts if the adapter's own ``declines`` fails: it then has a verdict, which says so.
    """

    def is_offered(case: Case) -> bool:
        try:
            return bench.not_offered(case) is None
        except RunnerError:
            return True

    return sum(map(is_offered, table))


def judge_all(
    benches: list[Bench],
    table: list[Case],
    listen: Listener,
    first: int = 0,
    skip: int = 0,
    until: float = math.inf,
    counts: Counts | None = None,
) -> list[CaseResult]:
    """Judge all cases but the first ``skip``; the results are in the table's order.

    Args:
        benches: they play the cases.
        table: the cases.
        listen: receives an event for each.
        first: the number of the table's first case.
        skip: the number of the table's first cases that are judged already.
        until: no case begins later than this, by ``time.monotonic``.
        counts: the number of cases that are offered, and of those that are judged already; the
            events count on from there. By default all of the table are offered.

    Raises:
        Stopped: Ctrl-C; it has the results before the first case that was not judged.
    """
    counts = counts or Counts(len(table), skip)
    done = counts.done
    lock = threading.Lock()
    found: dict[int, CaseResult] = {}

    def judge(bench: Bench, index: int) -> CaseResult | None:
        nonlocal done
        if time.monotonic() >= until:
            return None
        result = bench.judge(table[index], first + index)
        if bench.abandoned:
            return None
        with lock:
            found[index] = result
            done += result.reason is None
            listen(CasesJudged(result, done, counts.cases))
        return result

    numbers = range(skip, len(table))
    try:
        # Cases begin in order: those that did not are the last ones.
        return [result for result in share(benches, judge, numbers) if result is not None]
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
