"""The families of several ranks: each with its own state, and resumed by more or fewer (pure).

The ranks are played one after the other. A rank is known to the adapter by its execution; the
order of the samples is that of the user's distributed sampler.
"""

from __future__ import annotations

from midepoch_conformance.case.case import Case
from midepoch_conformance.families.axes import Cell, drains, load, save, take
from midepoch_conformance.families.family import probe

__all__ = ["RESIZED", "WORLDS"]

WORLDS = (2, 3)
RESIZED = ((2, 1), (2, 4), (4, 2))
"""Numbers of ranks before the change, and after it; all of them divide the samples evenly."""


@probe("ranks", shape=((12, 2),), kind=("map",), ranks=WORLDS, tail=("keep",))
def _ranks(c: Cell) -> Case:
    worlds = range(c.ranks)
    # Each rank goes on after it has saved: that is the run which its resume is compared with.
    saved = [
        c.session(r, take(1), save(f"s{r}"), *drains(2), rank=r, world=c.ranks) for r in worlds
    ]
    resumed = [
        c.session(c.ranks + r, load(f"s{r}"), *drains(2), rank=r, world=c.ranks) for r in worlds
    ]
    return c.case(c.workload(2, sampler="distributed"), *saved, *resumed)


@probe("resized ranks", shape=((16, 1),), kind=("map",), worlds=RESIZED, tail=("keep",))
def _resized_ranks(c: Cell) -> Case:
    before, after = c.worlds
    saved = [c.session(r, take(1), save(f"s{r}"), rank=r, world=before) for r in range(before)]
    # A new rank has no state of its own, and takes that of the rank which it would have been.
    resumed = [
        c.session(before + r, load(f"s{r % before}"), *drains(2), rank=r, world=after)
        for r in range(after)
    ]
    return c.case(c.workload(1, sampler="distributed"), *saved, *resumed)
