"""Hypothesis strategies: cases of every family, drawn so that failing ones shrink.

The families and axes are those of the committed tables; the values lie between those of the
tables. The number of workers is drawn first, the fewest first.
"""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

from midepoch_conformance import judges
from midepoch_conformance.case.adapter import Offer
from midepoch_conformance.case.case import Case
from midepoch_conformance.families.family import Cell, Family, families
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.shrink import sound

__all__ = ["cases_of", "draw_cases"]

INLINE_OF = 20
"""One of this many cases has workers: such a case takes a hundred times as long."""

_SIZES = (0, 1, 2, 3, 5, 7, 8, 12, 13, 16)
_BATCH_SIZES = (1, 2, 3, 4, 5)


@st.composite
def cases_of(
    draw: st.DrawFn,
    offer: Offer,
    only: frozenset[str] | None = None,
    inline_of: int = INLINE_OF,
    multi: bool | None = None,
) -> Case:
    """Draw a case that ``offer`` covers, of the families that the judges of ``only`` select.

    ``multi`` asks for workers, or for none; by default one case of ``inline_of`` has workers.
    """
    looked_at = [one for one in families() if only is None or only & set(_requirements_of(one))]
    if multi is None:
        multi = max(offer.workers, default=0) > 0 and draw(st.integers(1, inline_of)) == inline_of
    counts = sorted(n for n in offer.workers if bool(n) == multi) or sorted(offer.workers)
    row: dict[str, Any] = {"workers": draw(st.sampled_from(counts))}
    suitable = [one for one in looked_at if bool(row["workers"]) in one.workers]
    if not suitable:
        reject()
    family = draw(st.sampled_from(suitable))
    row |= {"family": family.name, "kind": draw(st.sampled_from(offer.kinds))}
    # Most judges need whole epochs, and a rolled-over tail leaves samples over.
    row |= {"tail": draw(st.sampled_from([t for t in offer.tails if t != "rollover"] or ["keep"]))}
    # A stream has no order of the loader's own.
    shuffles = sorted(offer.shuffles) if row["kind"] == "map" else [False]
    row |= {"shuffle": draw(st.sampled_from(shuffles))}
    if row["workers"]:
        row |= {"prefetch": draw(st.sampled_from((None, 2, 4)))}
        row |= {"persistent": draw(st.sampled_from(sorted(offer.persistent)))}
    if offer.intervals:
        row |= {"interval": draw(st.sampled_from(sorted(offer.intervals)))}
    for axis, values in family.axes.items():
        row[axis] = draw(_shapes(values) if axis == "shape" else st.sampled_from(values))
    case = _built(family, row)
    if case is None or reason_not_offered(case, offer) is not None:
        reject()
    # A family's builder only checks cells of the family's own shapes.
    if row["shape"] not in family.axes["shape"] and not sound(case):
        reject()
    return case


def _built(family: Family, row: dict[str, Any]) -> Case | None:
    cell = Cell(family.name, row)
    if "cut" in family.axes and cell.at < 1:
        return None
    return family.build(cell)


def draw_cases(
    offer: Offer,
    count: int,
    seeded: int,
    only: frozenset[str] | None = None,
    inline_of: int = INLINE_OF,
    multi: bool | None = None,
) -> list[Case]:
    """Return up to ``count`` different cases, the same for the same seed.

    ``multi`` asks for workers in all cases, or in none; by default one case of ``inline_of`` has
    workers.

    Every setting that could make a difference is explicit, and no run remembers another.
    """
    found: dict[str, Case] = {}
    if count < 1:
        return []

    @seed(seeded)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        derandomize=False,
        # They check how fast cases are drawn; the cases may not depend on the machine.
        suppress_health_check=list(HealthCheck),
    )
    @given(cases_of(offer, only, inline_of, multi))
    def collect(case: Case) -> None:
        found.setdefault(case.id, case)

    # The loader may offer nothing of what is asked for.
    with contextlib.suppress(Unsatisfiable):
        collect()
    return list(found.values())


def _shapes(values: tuple[Any, ...]) -> st.SearchStrategy[tuple[int, int]]:
    """Return the family's shapes, and others of like size where they are small."""
    if any(n > max(_SIZES) for n, _ in values):
        return st.sampled_from(values)
    others = st.tuples(st.sampled_from(_SIZES), st.sampled_from(_BATCH_SIZES))
    return st.one_of(st.sampled_from(values), others)


def _requirements_of(family: Family) -> tuple[str, ...]:
    return tuple(j.requirement for j in judges.REGISTRY.values() if family.name in j.families)
