"""The messages between the main process and its workers: one definition, encoder and decoder.

Every message to a worker except ``Stop`` gets exactly one answer: ``Open`` an ``Opened``,
``Fetch`` and ``Finish`` a ``Reply``.

The messages of each batch are not frozen, because a frozen dataclass takes ten times as long to
make. No code changes a message after it was sent.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple

from midepoch._torch import ExceptionWrapper, rebuild
from midepoch.format.state import LaneEntry
from midepoch.stateful import Frozen

__all__ = [
    "Batch",
    "Done",
    "Ended",
    "Failure",
    "Fetch",
    "Finish",
    "Open",
    "Opened",
    "Opening",
    "Outcome",
    "Reply",
    "Snapshot",
    "Stop",
    "Task",
    "decode",
    "encode",
]


@dataclass(slots=True)
class Snapshot:
    """The frozen states of a lane; ``trouble`` says why there is none."""

    dataset: Frozen | None = None
    iterator: Frozen | None = None
    trouble: str | None = None


class Opening(NamedTuple):
    """How one lane starts an epoch; there may be thousands, and a tuple is sent in less time."""

    lane: int
    entry: LaneEntry | None
    """The start, with users' parts frozen; ``None`` continues with the object as it is."""
    report: bool
    """Answer with the dataset's state before the epoch."""


@dataclass(frozen=True, slots=True)
class Open:
    """Start an epoch on the lanes that a worker hosts."""

    iteration: int
    """The iteration that this belongs to: answers to an older one are dropped."""
    epoch: int
    openings: tuple[Opening, ...]
    anywhere: bool = False
    """Any worker may be asked for a task of any lane."""
    dataset: bytes | None = None
    """A pickled dataset in place of the worker's own; its lanes start on new objects."""

    def at(self, worker: int, count: int) -> tuple[Opening, ...]:
        """Return the lanes that one of ``count`` workers hosts.

        >>> openings = tuple(Opening(lane, None, False) for lane in range(3))
        >>> [opening.lane for opening in Open(0, 0, openings).at(0, 2)]
        [0, 2]
        """
        if self.anywhere or len(self.openings) < count:
            return self.openings
        return tuple(one for one in self.openings if one.lane % count == worker)


@dataclass(slots=True)
class Fetch:
    """Produce a lane's next batch."""

    iteration: int
    slot: int
    lane: int
    route: int
    """Worker ``route % workers`` runs the task."""
    number: int
    """Map-style: the batch's index in the epoch; of ranks with lanes, among the rank's own."""
    keys: Any
    """Map-style: the dataset's keys."""
    snapshot: bool
    ship: bool
    """False for a replay: the worker drops the batch."""
    raises: bool = False
    """A replay: the batch ended in an error, which the caller has seen."""
    place: int | None = None
    """Under ranks: the first key's place in the epoch's order, by which samples are seeded."""


@dataclass(slots=True)
class Finish:
    """Answer with the state of the lane's dataset at the end of an epoch."""

    iteration: int
    slot: int
    lane: int
    route: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End the worker."""


Task = Fetch | Finish


@dataclass(slots=True)
class Batch:
    """A batch, as it is delivered, or packed on its way between processes."""

    data: Any
    samples: int
    """Iterables: how many samples are in it; the main process knows it of map-style ones."""
    last: bool = False
    """The lane ended with this batch."""

    def take(self) -> Any:
        """Return the batch."""
        return self.data


@dataclass(slots=True)
class Failure:
    """An error of the user's code in place of a batch."""

    error: BaseException | ExceptionWrapper
    fetching: bool = False
    """The dataset raised it while the samples were fetched, so a replay meets it again."""

    def exception(self) -> BaseException:
        """Return the error, in its own type if that can be rebuilt."""
        return rebuild(self.error) if isinstance(self.error, ExceptionWrapper) else self.error


@dataclass(frozen=True, slots=True)
class Ended:
    """The lane has no more batches in this epoch."""


@dataclass(frozen=True, slots=True)
class Done:
    """A task without a batch was run."""


Outcome = Batch | Failure | Ended | Done


@dataclass(frozen=True, slots=True)
class Opened:
    """The answer to ``Open``: an error of a lane's start, or the reports that were asked for."""

    iteration: int
    failure: Failure | None
    reports: dict[int, Snapshot | None]


@dataclass(slots=True)
class Reply:
    """The answer to a task."""

    iteration: int
    slot: int
    outcome: Outcome
    snapshot: Snapshot | None = None
    busy: float = 0.0
    """Seconds that the worker spent on the task."""
    content: str | None = None
    """The digest of the lane's batches since the snapshot before, up to this one."""


Message = Open | Fetch | Finish | Stop | Opened | Reply


def encode(message: Message) -> bytes:
    """Return the bytes of a message."""
    return pickle.dumps(message, protocol=5)


def decode(data: bytes) -> Any:
    """Return the message of ``encode``'s bytes."""
    return pickle.loads(data)
