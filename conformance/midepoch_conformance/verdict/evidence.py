"""The observation that shows a finding again: a failure's script prints it (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["AS_MANY", "KINDS", "UNINTERRUPTED", "Evidence", "Piece"]

AS_MANY = "as many"
"""``Evidence.wanted`` of batches whose order nobody knows: only their number is compared."""

UNINTERRUPTED = -1
"""In the place of a session: the uninterrupted run."""

KINDS = {
    "batches": "an epoch's batches, beside those of the uninterrupted run or beside `expected`",
    "samples": "the samples of some pieces together, each of which must come once",
    "epochs": "how many epochs deliver anything; `expected` tells how many do",
    "error": "whether there is an error, and which; `wanted` tells which there should be",
    "drew": "whether a step moves a global random stream; it must not",
    "draws": "the values that are drawn; `wanted` tells which must differ, and the chance",
    "changed": "the batches that are held, once more at the end",
    "written": "whether a number that was written into a batch is in a later one",
    "size": "the bytes of each state; they must not be a slope",
    "calls": "calls and fetches of the dataset; `wanted` tells which, and how many are enough",
    "altered": "the states that are not what they were when they were saved or loaded",
    "slope": "calls or fetches in each epoch or session; they must not be a slope",
    "left": "the processes that a closed loader leaves",
    "held": "processes, threads and descriptors after each round; none must grow each time",
    "recipe": "something of one requirement alone; see scripts/recipes.py",
}
"""All observations."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """The batches of a session from a step on: of one epoch, or of all."""

    session: int
    step: int = 0
    epoch: int | None = None


@dataclasses.dataclass(frozen=True)
class Evidence:
    """An observation of a case that is played."""

    what: str
    """One of :data:`KINDS`."""

    session: int = 0
    """The session that is looked at."""

    step: int = 0
    """The first step that is looked at."""

    last: int | None = None
    """The last step that is needed; None: the session's last one."""

    epoch: int = 0
    """The epoch from that step on, empty ones right after a load not counted."""

    run: tuple[int, int, int | None] | None = None
    """The expected batches: an epoch of the uninterrupted run, its first batch and its end."""

    other: int = UNINTERRUPTED
    """The session that is the uninterrupted run."""

    pieces: tuple[Piece, ...] = ()
    """The places of samples that are counted together."""

    wanted: Any = None
    """The expected value of the observation."""

    slack: int = 0
    """How many samples may be missing."""

    droppable: tuple[int, ...] = ()
    """The only samples that may be missing; empty: any may be."""

    def __post_init__(self) -> None:
        if self.what not in KINDS:
            raise ValueError(f"an observation is one of {', '.join(KINDS)}, got {self.what!r}")
