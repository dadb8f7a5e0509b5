"""The family that holds what was delivered, and writes into it (pure).

All other families hold it too: what changes in the plain ones is seen without a case of its own.
"""

from __future__ import annotations

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.families.axes import Cell, drains, load, save, take
from midepoch_conformance.families.basics import ONES
from midepoch_conformance.families.family import probe

__all__ = ["WIDTHS"]

WIDTHS = (16384, 64)
"""Numbers in a row: one is 128 KB, or half a KB."""


@probe(
    "written over", shape=ONES, kind=("map", "iterable", "stateful_iterable"), width=WIDTHS,
    then=(False, True), tail=("keep",),
)  # fmt: skip
def _written_over(c: Cell) -> Case:
    """Write into what was delivered; ``then``: take a state after that, and resume it.

    The epochs have many batches, since memory is used again when there is enough of it.
    """
    write = Step("overwrite")
    steps = (take(2), write)
    w = c.workload(2, width=c.width)
    if not c.then:
        return c.case(w, c.session(0, *steps, *drains(2)))
    first = c.session(0, *steps, save("s"), *drains(2))
    return c.case(w, first, c.session(1, load("s"), take(1), write, *drains(2)))
