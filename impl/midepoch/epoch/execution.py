"""How a loader's epochs are run: what does not change from one iterator to the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from midepoch.stats import Tally

__all__ = ["Way"]


@dataclass(frozen=True)
class Way:
    """How a loader's epochs are run: what does not change from one iterator to the next."""

    stateful: bool
    """The dataset has a state."""
    interval: int
    """Global batches between two snapshots; 0: none."""
    free: bool
    """Any worker can run any lane's tasks: the dataset is map-style and has no state."""
    keep: bool
    """Workers go on from epoch to epoch."""
    length: Callable[[], int]
    """``len()`` of the loader."""
    tally: Tally = field(default_factory=Tally)
    in_order: bool = True
    """Batches are delivered in the plan's order, not as they become ready."""
    anywhere: bool = False
    """Each worker hosts every lane, so that whichever is free runs the next task."""
    prefetch: int | None = None
    """Batches under way in all workers; ``None``: as many as these take."""
    shared: bool = False
    """Iterators of one loader run on the same dataset objects, which have a state."""
