"""The plan: the settings that decide which batches come in which order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Literal, NamedTuple

__all__ = [
    "DEALT",
    "SHARED",
    "DatasetKind",
    "Difference",
    "Lifetime",
    "Plan",
    "SamplerKind",
    "Tail",
    "compare",
]

DatasetKind = Literal["map", "iterable"]
SamplerKind = Literal["sequential", "shuffle", "custom", "none"]
Tail = Literal["keep", "drop", "rollover"]
Lifetime = Literal["epoch", "run"]

SHARED = {"ranks": "shared"}
"""The option of a plan whose steps several ranks share (RANK-4)."""

DEALT = {"ranks": "dealt"}
"""The option of a plan whose lanes are dealt to several ranks (RANK-11)."""


@dataclass(frozen=True)
class Plan:
    """The logical plan of a loader, as a state records it (the epoch is in the position)."""

    dataset: DatasetKind
    length: int | None
    """The length of a built-in sampler's source; ``None`` for other samplers and iterables."""
    sampler: SamplerKind
    sampler_name: str | None
    """The qualified class name of a custom (outer) sampler."""
    seed: int
    batch_size: int | None
    """``None`` without automatic batching and for custom batch samplers."""
    tail: Tail
    lanes: int
    """0 means unsharded: one stream, no worker info."""
    lifetime: Lifetime
    data: str | None = None
    """A text that identifies the data; ``None`` if there is none."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Later additions that a reader must understand, by name."""

    @property
    def shared(self) -> bool:
        """Whether ranks share each step: ``batch_size`` is that of all of them together."""
        return self.options.get("ranks") == SHARED["ranks"]

    @property
    def dealt(self) -> bool:
        """Whether each rank has some of the lanes, and delivers whole batches of them."""
        return self.options.get("ranks") == DEALT["ranks"]


class Difference(NamedTuple):
    """One field of the plan that differs between a state and a loader."""

    field: str
    saved: object
    here: object


def compare(saved: Plan, here: Plan, ignore: Collection[str] = ()) -> list[Difference]:
    """Return every differing field that is not in ``ignore``, in the plan's order (DOC-12).

    >>> from dataclasses import replace
    >>> plan = Plan("map", 100, "shuffle", None, 7, 8, "keep", 0, "epoch")
    >>> compare(plan, replace(plan, length=101, seed=8), ignore={"seed"})
    [Difference(field='length', saved=100, here=101)]
    """
    pairs = (
        Difference(field.name, getattr(saved, field.name), getattr(here, field.name))
        for field in fields(Plan)
        if field.name not in ignore
    )
    return [pair for pair in pairs if pair.saved != pair.here]
