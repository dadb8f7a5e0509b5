"""Draws histories whose number of ranks changes from stage to stage (pure)."""

from __future__ import annotations

import dataclasses
from typing import Any

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import (
    OF_CUT_RANKS,
    OF_DEALT_RANKS,
    OF_RANKS,
    Case,
    Step,
)
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.stages import Stage, staged
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.family import LANED
from midepoch_conformance.families.offered import reason_not_offered
from midepoch_conformance.search.draws import Chance, Unplayable, some_codec
from midepoch_conformance.search.steering import Declines, in_profile

__all__ = ["BUDGETS", "draw_rank_histories", "draw_rank_history"]

BUDGETS = {"quick": (84, 4), "full": (640, 40)}
"""How many of these histories each profile draws, without workers and with them."""

MOST_RANKS = 4
_SIZES = (2, 3, 4, 4, 6, 8, 12)
"""The global batch sizes of ranks that go on in batches of another size."""


def draw_rank_histories(
    profile: str, offer: Offer, seed: int, declines: Declines | None = None
) -> list[Case]:
    """Draw a profile's histories of ranks, the same for the same seed.

    Example:
        >>> len(draw_rank_histories("quick", Offer(extras=("world", "shared")), seed=1))
        84
        >>> draw_rank_histories("quick", Offer(), seed=1)
        []
    """
    words = f"{seed} of ranks"
    return in_profile(draw_rank_history, BUDGETS[profile], offer, words, declines)


def draw_rank_history(chance: Chance, offer: Offer, multi: bool) -> Case:
    """Draw a history; with ``multi``, some of its ranks have workers.

    Raises:
        Unplayable: what was drawn is not offered.
        CaseError: a stage asks for what there is not.
    """
    kinds = [kind for kind in LANED if kind in offer.kinds and "dealt" in offer.extras]
    cut = {"shared", "cut anew"} <= {*offer.extras} and "midepoch" in offer.formats
    ways = [OF_RANKS] * ("shared" in offer.extras) + [OF_DEALT_RANKS] * bool(kinds)
    ways += [OF_CUT_RANKS] * cut
    if not ways:
        raise Unplayable("ranks neither share batches nor have lanes here")
    family = chance.one(ways)
    if family == OF_CUT_RANKS:
        lanes, divided = None, chance.one(_SIZES)
        w = _workload(chance, offer, kind="map", ranks="cut anew", batch_size=divided)
        w = dataclasses.replace(w, draws=())  # WORLD-7 is about the samples alone
    elif family == OF_RANKS:
        lanes, divided = None, chance.one((2, 4, 4, 6, 8, 12))
        w = _workload(chance, offer, kind="map", ranks="shared", batch_size=divided)
    else:
        divided = lanes = chance.one((2, 3, 4, 4, 6))
        w = _workload(chance, offer, kind=chance.one(kinds), ranks="dealt", lanes=lanes)
    stages: list[Stage] = []
    for number in range(chance.one((2, 2, 3, 3, 4, 5))):
        before = stages[-1].execution.world if stages else 0
        if family == OF_CUT_RANKS and stages and chance.often(0.7):
            divided, before = chance.one([size for size in _SIZES if size != divided]), 0
        worlds = [n for n in range(1, MOST_RANKS + 1) if divided % n == 0 and n != before]
        workers = chance.one([n for n in offer.workers if n <= 2]) if multi else 0
        x = Execution(
            workers=workers,
            persistent=w.kind == "stateful_map" and workers > 0,
            lanes=lanes,
            interval=chance.one(offer.intervals or (1,)),
            world=chance.one(worlds),
        )
        size = 0 if divided == w.batch_size or lanes else divided
        adopts = bool(stages) and "adoption" in offer.extras and chance.often(0.15)
        stages.append(Stage(x, _steps(chance, offer, number), size, adopts))
    last = dataclasses.replace(stages[-1], steps=(Step("drain"),) * 2)
    if family == OF_CUT_RANKS and not any(stage.batch_size for stage in stages):
        raise Unplayable("the global batch size never changes")
    case = staged(family, w, [*stages[:-1], last])
    words = reason_not_offered(case, offer)
    if words is not None:
        raise Unplayable(words)
    return case


def _workload(
    chance: Chance, offer: Offer, lanes: int = 1, batch_size: int = 0, **more: Any
) -> Workload:
    """Draw samples for some batches of each lane, and some that fill none."""
    size = batch_size or chance.one((1, 2, 3))
    n = size * lanes * (2 + chance.below(4)) + chance.below(size * lanes)
    ordered = more["kind"] in ("map", "stateful_map")
    tails = [tail for tail in offer.tails if tail != "rollover" or more["ranks"] != "dealt"]
    own = [draw for draw in offer.draws if draw not in GENERATORS]
    drawn = (chance.one(own),) if own and chance.often(0.4) else ()
    if not ordered and "streams" in offer.extras:
        more["stream"] = chance.one(("plain", "plain", "uneven", "rising", "hollow"))
    return Workload(
        n=n,
        batch_size=size,
        shuffle=ordered and chance.one((*offer.shuffles, max(offer.shuffles))),
        seed=chance.one((0, 1, 3, 2**62 + 12345)),
        tail=chance.one(tails) if ordered else "keep",
        draws=drawn,
        **more,
    )


def _steps(chance: Chance, offer: Offer, number: int) -> tuple[Step, ...]:
    """Draw the steps of a stage: some epochs, some batches, a state, and some that are lost."""
    drains = number < 3 and chance.often(0.25)
    before, after = chance.one((0, 1, 1, 1, 2)), chance.one((0, 0, 1))
    codec = some_codec(chance, offer)
    takes = [(Step("take", n),) if n else () for n in (before, after)]
    return (*(Step("drain"),) * drains, *takes[0], Step("save", codec=codec), *takes[1])
