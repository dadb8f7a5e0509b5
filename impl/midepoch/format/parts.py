"""The parts of a state document below the plan, as values.

They carry users' own states unchanged, whatever these are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

__all__ = [
    "LANE_SLOTS",
    "SAMPLER_SLOTS",
    "GeneratorState",
    "LaneEntry",
    "LanesState",
    "Position",
    "SamplerState",
    "Share",
    "Users",
]

SAMPLER_SLOTS = ("batch_sampler", "batch_sampler_iter", "sampler", "sampler_iter")
"""The four places where a custom sampler can hold a state: outer and inner, object and iterator."""

LANE_SLOTS = ("dataset", "iterator")
"""The two places where a lane can hold a user's state."""

Users = Any
"""A user's own value of any type, carried unchanged (DOC-4)."""


class Share(NamedTuple):
    """The share of one of several ranks."""

    rank: int
    world: int


@dataclass(frozen=True)
class Position:
    """The progress of the delivery through the plan."""

    epoch: int
    batches: int
    """Batches delivered in this epoch."""
    samples: int
    """Samples delivered in this epoch."""
    digest: str | None = None
    """Custom samplers: SHA-256, in hexadecimal, of the indices consumed in this epoch."""
    ahead: tuple[int, ...] = ()
    """Out of order: the delivered batches after the first one that was not delivered."""
    carried: tuple[Users, ...] | None = None
    """Rollover: indices left over by the epoch before, with which the first batch begins."""
    share: Share | None = None
    """The share of the order that these batches are of, where ranks divide it."""

    @property
    def low(self) -> int:
        """The first batch that was not delivered."""
        return self.batches - len(self.ahead)

    @property
    def reach(self) -> int:
        """One more than the last batch delivered: the position of a sampler."""
        return self.ahead[-1] + 1 if self.ahead else self.batches


# The classes that hold users' values compare by identity: the equality of such values need not
# give a truth value (that of tensors does not).


@dataclass(frozen=True, eq=False)
class GeneratorState:
    """The state of a custom sampler's random generator at the epoch's start."""

    path: str
    kind: Literal["torch", "numpy", "python"]
    state: Users


@dataclass(frozen=True, eq=False)
class SamplerState:
    """The state of a custom sampler."""

    epoch: int | None
    """``sampler.epoch``, restored at a resume."""
    generators: tuple[GeneratorState, ...]
    states: dict[str, Users]
    """By slot (``SAMPLER_SLOTS``), every slot present."""
    stated: tuple[str, ...]
    """The slots that hold a state: ``None`` is a legal one."""
    batches: int
    """The batch at which the slots were snapshotted; -r for r batches before the end of the pass
    before, which was left early."""
    digest: str | None = None
    """The digest of the epoch's batches up to the snapshot; ``None`` if it has none of them."""


@dataclass(frozen=True, eq=False)
class LaneEntry:
    """One lane's snapshot, and its progress since."""

    dataset: Users
    iterator: Users
    stated: tuple[str, ...]
    """The slots that hold a state (``LANE_SLOTS``)."""
    ordinal: int
    """Batches that the lane had yielded at the snapshot; -r for r batches before the end of the
    pass before, which was left early."""
    ended: bool
    replay: int
    """Batches delivered from the lane since the snapshot."""
    errors: tuple[int, ...] = ()
    """The batches since the snapshot in which the dataset raised an error, increasing, the first
    numbered 0. Those of a pass before are counted first."""
    content: str | None = None
    """The digest of the values that the user's ``replay_check`` gave for the ``replay`` batches;
    ``None`` without one."""
    samples: int | None = None
    """The samples of the delivered batches, where lanes are dealt to ranks; else ``None``."""

    @property
    def left(self) -> int:
        """Batches since the snapshot in the pass before, which was left early."""
        return max(0, -self.ordinal)

    @property
    def cut(self) -> int:
        """Batches of this epoch that the lane had yielded at the snapshot."""
        return max(0, self.ordinal)

    @property
    def delivered(self) -> int:
        """Batches of this epoch that were delivered from the lane."""
        return self.cut + self.replay


@dataclass(frozen=True, eq=False)
class LanesState:
    """All lanes, and the one that delivers next."""

    next: int
    entries: tuple[LaneEntry, ...]
    """Exactly ``max(1, plan.lanes)``; of a rank to which lanes are dealt, those of its own."""

    @property
    def delivered(self) -> int:
        """Batches of this epoch that were delivered from these lanes."""
        return sum(entry.delivered for entry in self.entries)

    @property
    def cut(self) -> int:
        """The first batch, as they are dealt to map-style lanes, that is after its lane's snapshot.

        The lanes replay from there. If several ranks took the snapshots, some of them may be later.
        """
        return min(entry.cut * len(self.entries) + i for i, entry in enumerate(self.entries))
