"""The bench: plays one case at a time on a loader and lets the judges judge it.

A bench owns one runner and shares the uninterrupted runs of the whole check. It does not know
tables, profiles or reports.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from types import TracebackType
from typing import Protocol, TypeVar

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import Execution, LoaderInfo
from midepoch_conformance.case.case import HISTORIES, Case
from midepoch_conformance.case.trace import Fault, Trace
from midepoch_conformance.case.uninterrupted import oracle_case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.errors import own_error
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.playing.hangs import Hangs
from midepoch_conformance.playing.plays import Played, Plays
from midepoch_conformance.playing.runner import RunnerError
from midepoch_conformance.playing.turns import Turns
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.delivered import Delivered, delivered, epoch_lengths
from midepoch_conformance.verdict.finding import FAILURES, Finding, place
from midepoch_conformance.verdict.results import CaseResult

__all__ = ["Bench", "CertainFailures", "Engine", "Oracles", "share"]

T = TypeVar("T")


class Engine(Protocol):
    """The part of a runner that the bench needs."""

    limit: float
    """The seconds that a session has if nobody says otherwise."""

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

    def begin(self) -> None:
        """Start what takes long to start, without waiting for it."""

    def declines(self, workload: Workload, execution: Execution) -> str | None:
        """Return why the loader's adapter does not offer this cell."""

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        """Play a case; a session has ``limit`` seconds, and ``most`` limits while it works."""


class Oracles:
    """The uninterrupted runs; each is played once, by the first thread that needs it.

    Args:
        most: the number of newest runs that are kept: cases can be drawn without end.
    """

    def __init__(self, most: int = 4096) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._traces: dict[tuple[str, int], Future[Played]] = {}

    def get(self, plays: Plays, case: Case, attempt: int = 0) -> Played:
        """Return the trace of ``case``; replays share an uninterrupted run of their own.

        No other case is played beside the run of replays.
        """
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
                future.set_result(plays.play(case, alone=attempt > 0))
            except BaseException as error:
                future.set_exception(error)
        return future.result()


class CertainFailures:
    """Counts the failures of drawn histories that three plays of three showed."""

    ENOUGH = 5
    """The number of certain failures of a kind after which one play of a history shows another."""

    def __init__(self) -> None:
        self._counts = Counter[tuple[str, str, str]]()

    def note(self, findings: Iterable[Finding]) -> None:
        """Count the failures among a history's findings, which are certain."""
        # A count that two threads add at once may get lost: one more history is then replayed.
        self._counts.update([_way(f) for f in findings if f.outcome in FAILURES])

    def has_enough_like(self, findings: Iterable[Finding]) -> bool:
        """Return whether every failure among the findings has enough certain ones of its kind."""
        failures = [f for f in findings if f.outcome in FAILURES]
        return all(self._counts[_way(f)] >= self.ENOUGH for f in failures)


def _way(finding: Finding) -> tuple[str, str, str]:
    """Return the way in which a finding fails."""
    return finding.requirement, finding.outcome, finding.kind


class Bench:
    """Judges cases on one runner.

    A failure counts if the case fails in three plays of three, no other case beside the second
    one. A hang is certain by itself (:mod:`~midepoch_conformance.playing.plays`). A drawn
    history is not replayed if enough others have failed like it.

    Args:
        engine: plays cases.
        oracles: shared by all benches of a check, as the next three are.
        turns: the turns of plays.
        hangs: the limit of plays and the known hangs; by default the engine's limit holds.
        certain: the failures of drawn histories.
    """

    def __init__(
        self,
        engine: Engine,
        oracles: Oracles | None = None,
        turns: Turns | None = None,
        hangs: Hangs | None = None,
        certain: CertainFailures | None = None,
    ) -> None:
        self._engine = engine
        self.abandoned = False
        """Whether nothing can be played any more; the case that was being played has no verdict."""
        self._oracles = oracles or Oracles()
        self._hangs = hangs or Hangs(engine.limit)
        self._plays = Plays(engine, turns or Turns(), self._hangs)
        self._certain = certain or CertainFailures()
        self._again: tuple[str, Trace, Trace] | None = None

    def be_exclusive(self) -> None:
        """Play no case beside another one from now on."""
        self._plays.alone = True

    @property
    def info(self) -> LoaderInfo:
        """The loader, as its interpreter describes it."""
        return self._engine.info

    def begin(self) -> None:
        """Start the loader's processes, without waiting for them."""
        self._engine.begin()

    def play(self, case: Case) -> Trace:
        """Play ``case`` and return its trace, unjudged."""
        return self._plays.play(case).trace

    def smoke(self, case: Case) -> Trace:
        """Play the smoke run, which sets the limit of all plays, and return its trace, unjudged."""
        return self._plays.smoke(case)

    def abandon(self) -> None:
        """End the case that is being played, from another thread; nothing can be played then."""
        self.abandoned = True
        self._engine.__exit__(None, None, None)

    def judge(self, case: Case, index: int = 0) -> CaseResult:
        """Play ``case`` and judge it; a failing one is replayed twice before it counts.

        Faults of a loader, its adapter, its environment or the suite itself never raise here: they
        become findings (``error``), and the other cases are judged.
        """
        start = time.monotonic()
        try:
            findings, reason = self._judged(case)
        except RunnerError as error:
            findings, reason = self._all(case, "error", error.message), None
        except Exception as error:
            words = f"the suite itself failed: {own_error(error)}"
            findings, reason = self._all(case, "error", words, "judge"), None
        seconds = time.monotonic() - start
        if "midepoch" not in self.info.offer.formats:  # then no state is a document
            known = requirements.load()
            findings = [
                f for f in findings
                if f.outcome != "error" or known[f.requirement].cls != "Document"
            ]  # fmt: skip
        return CaseResult(index, case, tuple(findings), reason, seconds)

    def stacks(self, case: Case) -> str | None:
        """Return where the processes of a case stood whose hang has a proof of its own, or None."""
        return self._hangs.stacks(case.id)

    def fails(self, case: Case, finding: Finding, *, proven: bool = False) -> Finding | None:
        """Play ``case`` once and return its finding, if it fails in the same way as ``finding``.

        With ``proven``, a hang counts only with a proof of its own. It also returns None if the
        loader does not offer the case, or if its host does not answer.
        """
        try:
            if self.not_offered(case) is not None:
                return None
            found = self._play(case, attempt=0, proven=proven)[0]
        except RunnerError:
            return None
        return next((f for f in found if _way(f) == _way(finding)), None)

    def lengths(self, case: Case) -> list[int] | None:
        """Return the number of batches of each epoch of the uninterrupted run, if known."""
        try:
            return epoch_lengths(self._oracle(case, attempt=0).trace)
        except RunnerError:
            return None

    @property
    def limit(self) -> float:
        """The seconds that a session has."""
        return self._plays.limit

    def errors(self, case: Case, finding: Finding) -> frozenset[str] | None:
        """Return the types of the errors of one more play, with those that the finding names.

        A process that was killed or died is ``"the process died"``. None: any error may come.
        :meth:`delivered` tells of the same play, if it is asked next.
        """
        found = {*_ERROR.findall(finding.words)}
        if finding.kind in ("hang", "crash"):
            return frozenset({*found, DIED})
        try:
            trace, _ = self._once_more(case)
        except RunnerError:
            return None
        for session in trace.sessions:
            faults = (session.fault, *(event.fault for event in session.events))
            found |= {_type_of(fault) for fault in faults if fault is not None}
        return frozenset(found)

    def delivered(self, case: Case) -> Delivered | None:
        """Play ``case`` once more and return its batches; None if its host does not answer."""
        try:
            return delivered(case, *self._once_more(case))
        except RunnerError:
            return None

    def _once_more(self, case: Case) -> tuple[Trace, Trace]:
        """Return the trace of one more play, and that of its uninterrupted run.

        A script asks for a play's errors and a drawing for its batches, one after the other.
        """
        if self._again is None or self._again[0] != case.id:
            oracle = self._oracle(case, attempt=0).trace
            played = self._plays.play(case, epoch_lengths(oracle))
            self._again = case.id, played.trace, oracle
        _, trace, oracle = self._again
        return trace, oracle

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
        findings, played = self._play(case, attempt=0)
        failed = {f.requirement for f in findings if f.outcome in FAILURES}
        if played.hangs and not self._hangs.fail(case.id, failed):
            findings, played = self._play(case, attempt=0, proven=True)
            failed = {f.requirement for f in findings if f.outcome in FAILURES}
            self._hangs.fail(case.id, failed)
        if failed and not played.hangs:
            drawn = case.probe in HISTORIES
            if not (drawn and self._certain.has_enough_like(findings)):
                findings = self._confirmed(case, findings, played)
                if drawn:
                    self._certain.note(findings)
        return findings, None

    def _confirmed(self, case: Case, findings: list[Finding], played: Played) -> list[Finding]:
        """Return the findings after two replays, the first of them without any company."""
        asked = {f.requirement for f in findings if f.outcome in FAILURES}
        first = self._play(case, attempt=1, alone=True)[0]
        # A case that does not fail alone is judged by plays that are alone.
        again = any(f.requirement in asked and f.outcome in FAILURES for f in first)
        second = self._play(case, attempt=1, alone=not again)[0]
        return [_confirmed(f, [first, second], played.company) for f in findings]

    def _play(
        self, case: Case, attempt: int, *, alone: bool = False, proven: bool = False
    ) -> tuple[list[Finding], Played]:
        oracle = self._oracle(case, attempt)
        lengths = epoch_lengths(oracle.trace)
        played = self._plays.play(case, lengths, alone=alone, proven=proven)
        offer = self.info.offer
        found = judges.judge(case, played.trace, oracle.trace, offer.live_load, offer.broken)
        return found, dataclasses.replace(played, company=played.company or oracle.company)

    def _oracle(self, case: Case, attempt: int) -> Played:
        if not case.workload.epochs:
            return Played(Trace("oracle", []))  # a run of no epochs has nothing to compare with
        return self._oracles.get(self._plays, oracle_case(case), attempt)

    @staticmethod
    def _all(case: Case, outcome: str, words: str, kind: str = "") -> list[Finding]:
        return [place(Finding(i, outcome, kind, words), case) for i in judges.applicable(case)]


DIED = "the process died"

_ERROR = re.compile(r"\b[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Iteration|Warning|Died)\b")
"""The name of an error's type in a sentence."""


def _type_of(fault: Fault) -> str:
    return DIED if fault.kind in ("hang", "crash") else fault.type


def _confirmed(finding: Finding, replays: list[list[Finding]], company: bool) -> Finding:
    """Return ``finding`` unchanged if every replay shows it, else as unstable, or as a pass.

    A failure that only a play in company shows is none of the loader's. One whose plays differ
    presupposes what any of them does.
    """
    if finding.outcome not in FAILURES:
        return finding
    alike = [
        [f for f in replay if f.requirement == finding.requirement and f.outcome in FAILURES]
        for replay in replays
    ]
    again = sum(map(bool, alike))
    if again == len(replays):
        plays = [finding, *itertools.chain.from_iterable(alike)]
        needs = dict.fromkeys(name for play in plays for name in play.needs)
        return dataclasses.replace(finding, needs=tuple(needs))
    if not again and company:
        words = f"fails only while other cases run: {finding.words}"
        return dataclasses.replace(finding, outcome="pass", kind="company", words=words)
    words = f"{again + 1} of {len(replays) + 1} plays fail: {finding.words}"
    return dataclasses.replace(finding, outcome="unstable", words=words)


def share(benches: list[Bench], work: Callable[[Bench, int], T], numbers: Iterable[int]) -> list[T]:
    """Run ``work`` for all numbers, each on a bench that is free; results in order.

    The first error ends it once the running calls have ended. Ctrl-C ends those as well: a case
    that hangs would keep the user waiting. The benches are of no use then.
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
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(error, KeyboardInterrupt):
                for bench in benches:
                    bench.abandon()
            raise
    return [future.result() for future in futures]
