"""States of unusual workloads that are edited, kept by reference or refused (pure)."""

from __future__ import annotations

from midepoch_conformance.case.case import Case
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import Cell, drains
from midepoch_conformance.families.unusual.aspects import named
from midepoch_conformance.families.unusual.family import unusual


# A dataset that always hands out the same object changes it when it is asked again.
@unusual(
    "work sealed late",
    bites=("encoded late", "a full window"),
    unusual=("mutated", "buffer", "on the iterator", "history", "stateful"),
)
def _sealed_late(c: Cell, w: Workload) -> Case:
    saved = "take 2, save s, take 1, save t, drain, drain, seal s late"
    return c.play(f"{saved} | load late, drain, drain", w)


# A state's mutable parts: those of samplers, of generators and of datasets.
MUTABLE = named("sampler", "private", "tree", "stream", "iterator", "history")


@unusual(
    "work edited after save",
    bites=("a replay from the beginning", "a full window"),
    each=("sampler",),
    unusual=MUTABLE,
)
def _edited_after_save(c: Cell, w: Workload) -> Case:
    return c.play("take 2, save s, edit s, drain, drain | load s, drain, drain", w)


@unusual(
    "work edited after load",
    bites=("a state edited", "fewer batches since the load than workers"),
    each=("sampler",),
    unusual=MUTABLE,
    soon=(0, 1),
)
def _edited_after_load(c: Cell, w: Workload) -> Case:
    edited = "take 1, edit s" if c.soon else "edit s"
    resumed = f"load s, {edited}, save t, drain, drain | load t, drain, drain"
    return c.play(f"take 2, save s | {resumed}", w)


@unusual(
    "work by reference", bites=("saved again", "a full window"), each=("sampler",), unusual=MUTABLE
)
def _by_reference(c: Cell, w: Workload) -> Case:
    return c.play("take 2, save s | load s, take 1, save t, drain, drain, seal s late", w)


@unusual(
    "work refused",
    bites=("an older state", "fewer batches since the load than workers"),
    epochs=3,
    needs=("samples",),
    each=("sampler", "epochs"),
    shape=((13, 3),),
    begun=(True, False, "loaded"),
    later=(True, False),
)
def _refused(c: Cell, w: Workload) -> Case | None:
    """Refuse a state of another batch size; then go on, save, and resume."""
    if c.unusual == "distributed" and not (c.shuffle and c.later and not c.begun):
        return None  # each epoch is like the one before, or has its order already
    before, begun = drains(int(c.later)), "take 1, " if c.begun else ""
    first = f"[batch_size=2] {before}, take 2, save s"
    if c.begun == "loaded":  # a state that is to be continued next
        return c.play(f"take 1, save t | {first} | load t, load s?, drain, drain", w)
    refused = f"{begun}load s?, take 1, save t, drain, drain"
    return c.play(f"{first} | {refused} | load t, drain, drain", w)
