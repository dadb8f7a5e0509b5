"""Plays a case, and makes sure of each hang.

The rule: a session that is late is no hang yet.

1. Sessions have a limit that follows from the smoke run, or from ``--timeout``. A case's first play
   has a fifth of it: that is long for processes that stand still, and a late play costs only a
   second one. While a session's processes make progress (processor time, a batch, a fetch, a
   printed line), it has up to four times as long.
2. A case with a late session is played once more, with five limits a session and no other play on
   the machine. If it ends, that play counts, and all first plays have twice the time that it took.
   If its processes stood still, the case hangs. So it does if they waited for a batch, in a session
   in which a worker dies, and only used the processor for three limits: no batch, no fetch.
   Otherwise they still worked, and the case is not judged: nobody can tell slow from endless. Once
   a case hangs so, first plays with such a session have no longer time while they work.
3. The places at which a play hangs are remembered: the files and functions of all threads. From
   then on a play that is late at such a place hangs without a proof of its own, if each requirement
   that it fails has been failed by a hang with one. The case that a failure shows has one, too.
4. After eight places, a play that is late at another one has one limit more, and is not judged if
   it is late again. So a run ends, whatever the loader.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Protocol

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.trace import Fault, Trace
from midepoch_conformance.host.faults import is_late
from midepoch_conformance.host.system.deadline import BUSY, SPINS, Deadline
from midepoch_conformance.host.system.stacks import shortened
from midepoch_conformance.playing.hangs import Hangs
from midepoch_conformance.playing.host_process import RunnerError
from midepoch_conformance.playing.turns import Turns

__all__ = ["Played", "Player", "Plays", "late"]


class Player(Protocol):
    """The part of an engine that plays cases."""

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        limit: float | None = None,
        most: float = 4,
    ) -> Trace:
        """Play a case; a session has ``limit`` seconds, and ``most`` limits while it works."""


@dataclasses.dataclass(frozen=True)
class Played:
    """A trace, and how sure it is."""

    trace: Trace
    company: bool = False
    """Whether another case was played at the same time."""
    hangs: bool = False
    """Whether a session hangs: that is certain, and no further play needs to show it."""


def late(trace: Trace) -> Fault | None:
    """Return the fault of a trace that a clock alone made one; None if it has none."""
    return next((fault for _, fault in _late(trace)), None)


def polls(case: Case, trace: Trace) -> bool:
    """Return whether a late session only uses the processor, to wait for a worker that is dead."""
    return any(
        fault.type == SPINS and fault.at in ("iter", "next") and loses_a_worker(case, session)
        for session, fault in _late(trace)
    )


def loses_a_worker(case: Case, session: int) -> bool:
    """Return whether a worker dies in this session of a case."""
    workload = case.session_workload(session)
    return workload.die_at is not None or bool(workload.exits_at)


def _late(trace: Trace) -> Iterator[tuple[int, Fault]]:
    for index, session in enumerate(trace.sessions):
        for fault in (session.fault, *(event.fault for event in session.events)):
            if fault is not None and is_late(fault):
                yield index, fault


class Plays:
    """Plays cases on one engine, in turns with others.

    Args:
        engine: plays a case.
        turns: shared by all benches of a check.
        hangs: likewise.
    """

    def __init__(self, engine: Player, turns: Turns, hangs: Hangs) -> None:
        self._engine, self._turns, self._hangs = engine, turns, hangs
        self.alone = False
        """Whether every play is alone."""

    @property
    def limit(self) -> float:
        """The seconds that a session has."""
        return self._hangs.limit

    def play(
        self,
        case: Case,
        lengths: Sequence[int] | None = None,
        *,
        alone: bool = False,
        proven: bool = False,
    ) -> Played:
        """Play a case; a hang in its trace is certain, and with ``proven`` has a proof of its own.

        Raises:
            RunnerError: a late session still worked, or there are too many places to look for.
        """
        played = self._once(case, lengths, self._hangs.first, alone=alone)
        fault = late(played.trace)
        return played if fault is None else self._made_sure(case, lengths, played, fault, proven)

    def smoke(self, case: Case) -> Trace:
        """Play the smoke run: whatever it shows is no verdict, so a late one is only late."""
        with self._turns.turn(alone=True):
            trace = self._engine.play(case, None, self._hangs.smoke, 1)
        if late(trace) is None:
            self._hangs.follow(sum(session.seconds for session in trace.sessions))
        return trace

    def _made_sure(
        self,
        case: Case,
        lengths: Sequence[int] | None,
        first: Played,
        fault: Fault,
        proven: bool,
    ) -> Played:
        """Play a late case again, alone and with more time."""
        hangs = self._hangs
        with self._turns.turn(alone=True):
            # Another bench may have made sure of the same place meanwhile.
            known = hangs.known(fault)
            if known is not None and not proven:
                return self._of_known(first, fault)
            full = known is None and hangs.full
            limit = hangs.limit * (1 if full else hangs.SURE)
            trace = self._engine.play(case, lengths, limit, 1)
            sure = late(trace)
            if sure is None:
                hangs.raise_to(max(session.seconds for session in trace.sessions))
                return Played(trace)
            if full:
                raise RunnerError(
                    "limit",
                    f"a session is late ({fault.message}), and plays hang at {hangs.PLACES} other "
                    "places: it is not judged",
                    "mend the other hangs first",
                )
            polling = polls(case, trace)
            hangs.polls |= polling
            busy = sure.type in (SPINS, BUSY) and not polling
            hangs.note(fault, busy)
            hangs.note(sure, busy)
            if not busy:
                hangs.prove(case.id, shortened(sure.traceback))
            return self._of_known(Played(trace), sure)

    def _of_known(self, played: Played, fault: Fault) -> Played:
        if not self._hangs.known(fault):
            return dataclasses.replace(played, hangs=True)
        raise RunnerError(
            "limit",
            f"a session is not judged, as it works without an end: {fault.message}",
            "give it more time: --timeout SECONDS",
        )

    def _once(
        self, case: Case, lengths: Sequence[int] | None, limit: float, *, alone: bool
    ) -> Played:
        deadly = any(loses_a_worker(case, i) for i in range(len(case.sessions)))
        most = 1 if deadly and self._hangs.polls else Deadline.MOST
        with self._turns.turn(alone or self.alone) as turn:
            trace = self._engine.play(case, lengths, limit, most)
        return Played(trace, turn.company)
