"""The bench: plays one case at a time on a loader and lets the judges judge it.

A bench owns one runner and shares the uninterrupted runs of the whole check. It does not know
tables, profiles or reports.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from types import TracebackType
from typing import Protocol, TypeVar

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import Execution, LoaderInfo
from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Trace
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.run.runner import RunnerError
from midepoch_conformance.verdict.delivered import Delivered, delivered, epoch_lengths
from midepoch_conformance.verdict.finding import FAILURES, Finding, place
from midepoch_conformance.verdict.results import CaseResult

__all__ = ["Bench", "Engine", "Oracles", "share"]

T = TypeVar("T")

REPLAYS = 2
"""How often a failing case is played again before the failure counts."""


class Engine(Protocol):
    """The part of a runner that the bench needs."""

    @property
    def info(self) -> LoaderInfo:
        """The loader, as its interpreter describes it."""

    def __enter__(self) -> Engine:
        """Return the engine, which is closed at the end of the block."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the engine."""

    def declines(self, workload: Workload, execution: Execution) -> str | None:
        """Return why the loader's adapter does not offer this cell."""

    def play(self, case: Case, lengths: Sequence[int] | None = None) -> Trace:
        """Play a case."""


class Oracles:
    """The uninterrupted runs; each is played once, by the first thread that needs it.

    Args:
        most: the number of newest runs that are kept: cases can be drawn without end.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._traces: dict[tuple[str, int], Future[Trace]] = {}

    def get(self, engine: Engine, case: Case, attempt: int = 0) -> Trace:
        """Return the trace of ``case``; replays share an uninterrupted run of their own."""
        with self._lock:
            future = self._traces.get((case.id, attempt))
            mine = future is None
            if future is None:
                future = self._traces[(case.id, attempt)] = Future()
                if len(self._traces) > self._most:
                    # A thread that waits for it holds a reference of its own.
                    del self._traces[next(iter(self._traces))]
        if mine:
            try:
                future.set_result(engine.play(case))
            except BaseException as error:
                future.set_exception(error)
        return future.result()


class Bench:
    """Judges cases on one runner.

    Args:
        engine: plays cases.
        oracles: shared by all benches of a check.
    """

    def __init__(self, engine: Engine, oracles: Oracles | None = None) -> None:
        self._engine = engine
        self._oracles = oracles or Oracles()

    @property
    def info(self) -> LoaderInfo:
        """The loader, as its interpreter describes it."""
        return self._engine.info

    def play(self, case: Case) -> Trace:
        """Play ``case`` and return its trace, unjudged."""
        return self._engine.play(case)

    def judge(self, case: Case, index: int = 0) -> CaseResult:
        """Play ``case`` and judge it; a failing one is replayed twice before it counts.

        Faults of a loader, its adapter or its environment never raise here: they become findings
        (``error``).
        """
        start = time.monotonic()
        try:
            findings, reason = self._judged(case)
        except RunnerError as error:
            findings, reason = self._all(case, "error", error.message), None
        seconds = time.monotonic() - start
        return CaseResult(index, case, tuple(findings), reason, seconds)

    def fails(self, case: Case, finding: Finding) -> Finding | None:
        """Play ``case`` once and return its finding, if it fails in the same way as ``finding``.

        It also returns None if the loader does not offer the case, or if its host does not answer.
        """
        try:
            if self.not_offered(case) is not None:
                return None
            found = self._play(case, attempt=0)
        except RunnerError:
            return None
        alike = (finding.requirement, finding.outcome, finding.kind)
        return next((f for f in found if (f.requirement, f.outcome, f.kind) == alike), None)

    def lengths(self, case: Case) -> list[int] | None:
        """Return the number of batches of each epoch of the uninterrupted run, if known."""
        try:
            return epoch_lengths(self._oracle(case, attempt=0))
        except RunnerError:
            return None

    def delivered(self, case: Case) -> Delivered | None:
        """Play ``case`` once more and return its batches; None if its host does not answer."""
        try:
            oracle = self._oracle(case, attempt=0)
            return delivered(case, self._engine.play(case, epoch_lengths(oracle)), oracle)
        except RunnerError:
            return None

    def declines(self, workload: Workload, execution: Execution) -> str | None:
        """Return why the loader's adapter does not offer this cell; None if it cannot say."""
        try:
            return self._engine.declines(workload, execution)
        except RunnerError:
            return None

    def not_offered(self, case: Case) -> str | None:
        """Return why the loader does not offer ``case``, or None if it does."""
        reason = reason_not_offered(case, self.info.offer)
        if reason is not None:
            return reason
        for index, plan in enumerate(case.sessions):
            reason = self._engine.declines(case.session_workload(index), plan.execution)
            if reason is not None:
                return reason
        return None

    def _judged(self, case: Case) -> tuple[list[Finding], str | None]:
        reason = self.not_offered(case)
        if reason is not None:
            return self._all(case, "not offered", reason), reason
        findings = self._play(case, attempt=0)
        if any(f.outcome in FAILURES for f in findings):
            replays = [self._play(case, attempt=1) for _ in range(REPLAYS)]
            findings = [_confirmed(f, replays) for f in findings]
        return findings, None

    def _play(self, case: Case, attempt: int) -> list[Finding]:
        oracle = self._oracle(case, attempt)
        trace = self._engine.play(case, epoch_lengths(oracle))
        return judges.judge(case, trace, oracle)

    def _oracle(self, case: Case, attempt: int) -> Trace:
        return self._oracles.get(self._engine, oracle_case(case), attempt)

    @staticmethod
    def _all(case: Case, outcome: str, words: str) -> list[Finding]:
        return [place(Finding(i, outcome, "", words), case) for i in judges.applicable(case)]


def _confirmed(finding: Finding, replays: list[list[Finding]]) -> Finding:
    """Return ``finding`` unchanged if every replay shows it, else as unstable."""
    if finding.outcome not in FAILURES:
        return finding
    again = sum(
        any(f.requirement == finding.requirement and f.outcome in FAILURES for f in replay)
        for replay in replays
    )
    if again == len(replays):
        return finding
    words = f"{again + 1} of {len(replays) + 1} plays fail: {finding.words}"
    return dataclasses.replace(finding, outcome="unstable", words=words)


def share(benches: list[Bench], work: Callable[[Bench, int], T], numbers: Iterable[int]) -> list[T]:
    """Run ``work`` for all numbers, each on a bench that is free; results in order.

    The first error, or Ctrl-C, ends it once the running calls have ended.
    """
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
