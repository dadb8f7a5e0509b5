"""The log of one worker's messages: as much of it as a replacement needs.

A replacement gets its lanes' latest snapshots first, then the tasks that ran since, whose answers
are dropped because they were delivered before. The open tasks come last.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from midepoch.format.state import LaneEntry
from midepoch.lane.messages import (
    Batch,
    Ended,
    Failure,
    Fetch,
    Finish,
    Open,
    Opened,
    Reply,
    Snapshot,
)
from midepoch.lane.messages import Opening as LaneOpening
from midepoch.lane.progress import FRESH, LaneProgress, Taken

__all__ = ["Activity", "Asked", "IrreplaceableError", "TaskLog"]

Question = Open | Fetch | Finish


class IrreplaceableError(Exception):
    """The position of a worker's lanes is unknown, or cannot be restored."""


class Activity(NamedTuple):
    """A worker's task in words, with its batch; equal if the same task runs again."""

    what: str
    epoch: int
    batch: int
    """Map-style: the index in the epoch. Iterables: the place in the lane."""
    lane: int
    """Its number in the plan."""

    def __str__(self) -> str:
        if self.what == "batch":
            return f"making batch {self.batch} of epoch {self.epoch} (lane {self.lane})"
        return f"{self.what} epoch {self.epoch} (lane {self.lane})"


@dataclass(slots=True)
class Asked:
    """A message to a worker; ``silent``: an earlier process has answered it already."""

    question: Question
    silent: bool


class TaskLog:
    """The log of one worker, kept across its replacements.

    ``remembers``: replacements are allowed, so the tasks since each lane's snapshot are kept.
    ``number``: gives the number in the plan of a lane, or of a map-style batch, where the worker
    has those of one rank.
    """

    def __init__(
        self, *, iterable: bool, stateful: bool, remembers: bool, number: Callable[[int], int] = int
    ) -> None:
        self._number = number
        self._iterable = iterable
        self._stateful = stateful
        self._remembers = remembers
        self.asked: deque[Asked] = deque()
        self._open: Open | None = None
        self._streams: dict[int, LaneProgress] = {}
        self._entries: dict[int, LaneEntry | Snapshot | None] = {}
        self._since: dict[int, list[Fetch]] = {}
        self._unknown: dict[int, str] = {}
        """Map-style lanes whose state is unknown, and the reason."""

    # Messages to and from the worker

    def sent(self, question: Question, *, silent: bool = False) -> None:
        """Log a message to the worker."""
        self.asked.append(Asked(question, silent))

    def answered(self, answer: Opened | Reply) -> bool:
        """Log the answer to the oldest question; return False if it was delivered before.

        Raises:
            IrreplaceableError: the lanes of a replacement could not be restored.
        """
        asked = self.asked.popleft()
        question = asked.question
        if asked.silent:
            failure = answer.failure if isinstance(answer, Opened) else answer.outcome
            if isinstance(failure, Failure):
                error = failure.exception()
                raise IrreplaceableError("its lanes could not be restored") from error
            return False
        if isinstance(question, Open):
            if isinstance(answer, Opened) and answer.failure is None:
                self._opened(question, answer)
        elif isinstance(answer, Reply):
            self._ran(question, answer)
        return True

    def _opened(self, question: Open, answer: Opened) -> None:
        for opening in question.openings:
            lane = opening.lane
            if self._iterable:
                entry = opening.entry or self._next_pass(lane)
                self._streams[lane] = LaneProgress(entry)
                self._streams[lane].begun(answer.reports.get(lane))
            elif self._stateful:
                self._since[lane] = []
                self._unknown.pop(lane, None)
                self._entries[lane] = opening.entry
                if opening.entry is None:
                    self._know(lane, answer.reports.get(lane))
        self._open = question

    def _know(self, lane: int, snapshot: Snapshot | None) -> None:
        if snapshot is None or snapshot.trouble is not None:
            trouble = "it was not asked" if snapshot is None else snapshot.trouble
            self._unknown[lane] = (
                f"the state_dict of the dataset of lane {self._number(lane)} failed ({trouble})"
            )
        else:
            self._entries[lane] = snapshot

    def _ran(self, question: Fetch | Finish, answer: Reply) -> None:
        lane, snapshot = question.lane, answer.snapshot
        stream = self._streams.get(lane)
        if stream is not None:
            if isinstance(answer.outcome, (Batch, Failure)):
                stream.deliver(answer.outcome, snapshot, answer.content)
            elif isinstance(answer.outcome, Ended):
                stream.end(snapshot)
        elif self._stateful and self._remembers:
            if snapshot is not None and snapshot.trouble is None:
                self._entries[lane] = snapshot
                self._since[lane] = []
                self._unknown.pop(lane, None)
            elif isinstance(question, Fetch):
                raised = isinstance(answer.outcome, Failure) and answer.outcome.fetching
                self._since[lane].append(replace(question, raises=question.raises or raised))

    # The messages for a replacement

    def start_over(self, iteration: int) -> list[Asked]:
        """Return the messages for a replacement, in order, and clear the log of open questions.

        Raises:
            IrreplaceableError: the state of a lane is unknown.
        """
        pending = [
            a.question for a in self.asked if not a.silent and a.question.iteration == iteration
        ]
        first = pending[0] if pending else None
        restoring: list[Asked] = []
        if self._open is None:
            pass  # no epoch has started yet
        elif isinstance(first, Open) and self._iterable:
            pending[0] = replace(first, openings=tuple(map(self._explicit, first.openings)))
        elif not isinstance(first, Open) or self._goes_on(first):
            restoring = self._restoring(self._open, iteration)
        self.asked.clear()
        return restoring + [Asked(question, False) for question in pending]

    def _explicit(self, opening: LaneOpening) -> LaneOpening:
        return opening._replace(entry=opening.entry or self._next_pass(opening.lane))

    def _next_pass(self, lane: int) -> LaneEntry:
        stream = self._streams.get(lane)
        return stream.next_epoch_entry() if stream is not None and self._stateful else FRESH

    def _goes_on(self, first: Open) -> bool:
        return self._stateful and any(opening.entry is None for opening in first.openings)

    def _restoring(self, latest: Open, iteration: int) -> list[Asked]:
        if self._unknown:
            raise IrreplaceableError("; ".join(self._unknown.values()))
        lanes = [opening.lane for opening in latest.openings]
        openings = tuple(LaneOpening(lane, self._entry(lane), False) for lane in lanes)
        again: list[Question] = [Open(iteration, latest.epoch, openings)]
        for lane in lanes:
            for task in self._since.get(lane, ()):
                again.append(replace(task, iteration=iteration, snapshot=False, ship=False))
        return [Asked(question, True) for question in again]

    def _entry(self, lane: int) -> LaneEntry | None:
        stream = self._streams.get(lane)
        if stream is not None:
            return stream.entry()
        known = self._entries.get(lane)
        return _between(known) if isinstance(known, Snapshot) else known

    # The current task

    @property
    def replaying(self) -> bool:
        """Whether the worker produces batches again; the timeout does not count meanwhile."""
        return any(
            asked.silent or (isinstance(asked.question, Fetch) and not asked.question.ship)
            for asked in self.asked
        )

    def activity(self) -> Activity | None:
        """Return the worker's current task; ``None``: it is idle."""
        if not self.asked:
            return None
        question, silent = self.asked[0].question, self.asked[0].silent
        if isinstance(question, Open):
            what = "being restored in" if silent else "starting"
            lane = self._number(question.openings[0].lane)
            return Activity(what, question.epoch, 0, lane)
        epoch = 0 if self._open is None else self._open.epoch
        stream, lane = self._streams.get(question.lane), self._number(question.lane)
        if isinstance(question, Finish):
            return Activity("ending", epoch, 0, lane)
        batch = self._number(question.number) if stream is None else stream.delivered
        return Activity("batch", epoch, batch, lane)


def _between(snapshot: Snapshot) -> LaneEntry:
    """Return the entry of a lane at the moment of the snapshot."""
    return Taken(snapshot, 0).entry()
