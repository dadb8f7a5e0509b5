"""Draws the workloads and executions of histories, from all that an offer covers (pure)."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import HISTORY, Case, SessionPlan
from midepoch_conformance.case.data import trees
from midepoch_conformance.case.data.sources import GENERATORS, SOURCES
from midepoch_conformance.case.history import MOST_EPOCHS
from midepoch_conformance.case.workload import AMBIENT_DRAWS, Workload
from midepoch_conformance.facts.resumes import Value, offered_values
from midepoch_conformance.families.offered import reason_not_offered

__all__ = [
    "MAPS",
    "Chance",
    "Unplayable",
    "Wishes",
    "changed_execution",
    "first_execution",
    "some_codec",
    "with_slow_samples",
    "workload",
]

T = TypeVar("T")

Wishes = Mapping[str, Value]
"""The values that a drawn history must have on some axes; see :data:`.reach.AXES`."""

MAPS = ("map", "stateful_map")
"""The kinds with random access."""
_STREAMS = ("iterable", "stateful_iterable")
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_LONGEST = 14
"""The most batches of an epoch: longer ones reach nothing new and cost more."""


class Unplayable(Exception):  # noqa: N818 - it is no error: another draw may succeed
    """A history cannot be as it is wished; the text says why."""


class Chance:
    """Random choices, the same for the same seed in every version of Python.

    Only ``random.Random.random`` is used: its numbers never change.

    Example:
        >>> [Chance("a seed").below(6) for _ in range(3)]
        [2, 2, 2]
    """

    def __init__(self, seeded: str) -> None:
        self._seeded, self._random, self._apart = seeded, random.Random(seeded).random, 0

    def apart(self) -> Chance:
        """Return choices of their own, whose number moves none of these."""
        self._apart += 1
        return Chance(f"{self._seeded}, apart {self._apart}")

    def below(self, n: int) -> int:
        """Return a number from 0 to ``n`` - 1."""
        return int(self._random() * n)

    def one(self, values: Sequence[T]) -> T:
        """Return one of the values."""
        return values[self.below(len(values))]

    def often(self, share: float) -> bool:
        """Return True in this share of the calls."""
        return self._random() < share


def workload(chance: Chance, offer: Offer, wishes: Wishes) -> Workload:
    """Draw a workload.

    Raises:
        Unplayable: no workload has the wished values.
    """
    values = offered_values(offer)
    kind = str(wishes.get("kind") or chance.one(_kinds(offer, wishes)))
    maps = kind in MAPS
    more: dict[str, Any] = {"kind": kind, "epochs": MOST_EPOCHS}
    more["checked"] = not maps and "replay checks" in offer.extras and chance.often(0.3)
    more["sampler"] = _sampler(chance, kind, values["sampler"], wishes)
    more["batch_size"] = size = chance.one((1, 2, 2, 3, 4, 5))
    plain = not (maps and (more["sampler"] or True in offer.shuffles))
    more["n"] = _samples(chance, size, plain)
    more["draws"] = _draws(chance, kind, offer, wishes)
    more["mixed"] = bool(set(more["draws"]) & set(AMBIENT_DRAWS)) and chance.often(0.5)
    more["tail"] = _wished(chance, "tail", offer.tails, wishes)
    if more["tail"] == "rollover" and (not maps or more["sampler"] == "batches"):
        if "tail" in wishes:
            raise Unplayable("samples roll over where the loader makes batches by random access")
        more["tail"] = "keep"
    if maps:
        more["shuffle"] = _shuffle(chance, offer, str(more["sampler"]), wishes)
    elif "shuffled streams" in offer.extras:
        more["shuffle"] = bool(_wished(chance, "shuffle", offer.shuffles, wishes))
    elif wishes.get("shuffle"):
        raise Unplayable("a stream has no order of the loader's own")
    if more.get("shuffle") or more["sampler"]:
        # A seed from the clock has more bits than a float.
        more["seed"] = chance.one((0, 1, 2, 3, 2**62 + 12345))
    extras = _extras(chance, kind, offer, more["draws"])
    if extras.get("stream") == "rewinding" and set(more["draws"]) & set(GENERATORS):
        del extras["stream"]  # what has a generator of its own is no iterator of its own
    extras |= _unusual(chance, Workload(**more), values["unusual"], wishes)
    # A user who sets the epochs sees none that the loader begins by itself.
    counted = not ("grow" in extras or Workload(**more, **extras).sets_epoch)
    more["skips"] = counted and "skipping" in offer.extras and chance.often(0.15)
    single = more["tail"] == "keep" and more["sampler"] != "batches" and "fail_at" not in extras
    if single and "unbatched" in offer.extras and chance.often(0.06):
        more["batch_size"] = 0
    return _disguised(chance.apart(), offer, Workload(**more, **extras), wishes)


_DISGUISES = {"custom": ("integers", "pairs"), "batches": ("arrays",), "prepared": ("dated",)}
"""The samplers that may take the place of another one."""


def _disguised(chance: Chance, offer: Offer, w: Workload, wishes: Wishes) -> Workload:
    """Draw what samples, indices and exceptions are made of, which changes no batch's place."""
    changes: list[dict[str, Any]] = [{"unreadable": w.fail_at is not None}]
    indices = _DISGUISES.get(w.sampler, ())
    if indices and "sampler" not in wishes:
        changes.append({"sampler": chance.one(indices)})
    # Some datasets make a row longer, or another one, and need a list.
    lists = w.kind == "stateful_map" or w.stream != "plain" or set(w.draws) & set(GENERATORS)
    plain = w.fails_in == "dataset" and not w.collated and not lists and w.batch_size
    rows = chance.one(("payload", "falsy", "width"))
    if rows == "payload":
        changes.append({"payload": chance.one(trees.TREES)})
    elif rows == "falsy" and plain and w.fail_at is None:
        changes.append({"falsy": True, "fails_in": "collate_fn"})
    elif rows == "width" and plain and not w.draws:
        changes.append({"width": 3})
    bare = (SessionPlan(Execution(), ()),)
    for change in changes:
        changed = dataclasses.replace(w, **change)
        # An adapter may carry only some of these.
        alone = Case(HISTORY, changed, bare)
        if chance.often(0.3) and reason_not_offered(alone, offer) is None:
            w = changed
    if not wishes:
        w = _failing(chance, offer, w)
    if w.fail_at is not None and w.n > 2 and chance.often(0.5):
        several = {chance.below(w.n) for _ in range(1 + chance.below(3))} - {w.fail_at}
        w = dataclasses.replace(w, fails_also=tuple(sorted(several)))
    return w


def _failing(chance: Chance, offer: Offer, w: Workload) -> Workload:
    """Let a sample of a stream raise, after which the stream can go on, or its ``collate_fn``."""
    plain = w.batch_size and w.tail == "keep" and not (w.falsy or w.collated or w.checked)
    if w.kind in MAPS or not (plain and w.n) or not chance.often(0.7):
        return w
    failing = dataclasses.replace(w, fail_at=chance.below(w.n), fails_in="collate_fn")
    if not w.private and chance.often(0.5):
        failing = dataclasses.replace(
            failing, fails_in="dataset", stream="rewinding", state_at="dataset"
        )
    bare = Case(HISTORY, failing, (SessionPlan(Execution(), ()),))
    return w if reason_not_offered(bare, offer) is not None else failing


def with_slow_samples(chance: Chance, w: Workload) -> Workload:
    """Let some samples take a while, or none: other workers overtake them."""
    if not w.n or chance.often(0.5):
        return w
    slow = {chance.below(w.n) for _ in range(1 + chance.below(2))}
    return dataclasses.replace(w, slow=tuple(sorted(slow)))


def _unusual(chance: Chance, w: Workload, known: Sequence[Value], wishes: Wishes) -> dict[str, Any]:
    """Draw a thing that few users have, or none."""
    plain = w.tail == "keep" and not w.sampler
    possible = {
        "": True,
        "a sample that raises": plain and w.kind in MAPS and w.n > 1,
        "a collate_fn that raises": plain and w.kind in MAPS and w.n > 1,
        "a length that changes": plain and w.kind == "map" and w.n > 0,
        "a collate_fn that draws": bool(set(w.draws) - set(GENERATORS)),
        "batches fetched at once": w.kind in MAPS,
    }
    found = _wished(chance, "unusual", ("", "", "", *known), wishes)
    if not possible[str(found)]:
        if "unusual" in wishes:
            raise Unplayable(f"{found} is drawn for another kind of data, order or draws")
        return {}
    if not found:
        return {}
    if found == "a sample that raises":
        return {"fail_at": chance.below(w.n)}
    if found == "a collate_fn that raises":
        return {"fail_at": chance.below(w.n), "fails_in": "collate_fn"}
    if found == "a length that changes":
        return {"grow": chance.one((2, 3))}
    return {"collated": True} if found == "a collate_fn that draws" else {"getitems": True}


def _kinds(offer: Offer, wishes: Wishes) -> Sequence[str]:
    """Return the kinds that can have the wished values; all if there is none."""
    private = wishes.get("draws") in GENERATORS
    shuffled = wishes.get("shuffle") and "shuffled streams" not in offer.extras
    of_maps = wishes.get("unusual") not in (None, "", "a collate_fn that draws")
    maps = shuffled or wishes.get("tail") == "rollover" or of_maps
    found = [
        kind
        for kind in offer.kinds
        if not (private and not kind.startswith("stateful"))
        and not (maps and kind not in MAPS)
        and not (wishes.get("sampler") and kind not in ("map", "stateful_map"))
    ]
    return found or offer.kinds


def _wished(chance: Chance, axis: str, values: Sequence[T], wishes: Wishes) -> T:
    return wishes[axis] if axis in wishes else chance.one(values)  # type: ignore[return-value]


def _sampler(chance: Chance, kind: str, known: Sequence[Value], wishes: Wishes) -> Value:
    if kind not in ("map", "stateful_map"):
        if wishes.get("sampler"):
            raise Unplayable("a user's sampler orders datasets with random access")
        return ""
    return _wished(chance, "sampler", ("", "", chance.one(known)), wishes)


def _shuffle(chance: Chance, offer: Offer, sampler: str, wishes: Wishes) -> bool:
    if sampler not in ("", "distributed"):
        if wishes.get("shuffle"):
            raise Unplayable("a user's sampler has an order of its own")
        return False
    # If all epochs were equal, one in the place of another would not show.
    return bool(_wished(chance, "shuffle", (*offer.shuffles, max(offer.shuffles)), wishes))


def _draws(chance: Chance, kind: str, offer: Offer, wishes: Wishes) -> tuple[str, ...]:
    """Return the streams that samples draw from: none, some, or a dataset's own generator."""
    stateful = kind.startswith("stateful")
    known = [draw for draw in offer.draws if stateful or draw not in GENERATORS]
    if "draws" in wishes:
        draw = str(wishes["draws"] or "")
        if draw and draw not in known:
            raise Unplayable("a dataset's own generator is part of its state: it needs one")
        return (draw,) if draw else ()
    if not known or chance.often(0.4):
        return ()
    # An offer's order; at most one generator of the dataset's own.
    several = {chance.one(known) for _ in range(1 + chance.below(3))}
    private = [draw for draw in known if draw in several and draw in GENERATORS][:1]
    return tuple(d for d in known if d in several and (d not in GENERATORS or d in private))


def _samples(chance: Chance, size: int, plain: bool) -> int:
    """Draw a number of samples: a prime, one, a batch, or about whole batches on some lanes."""
    sort = chance.below(20)
    if sort == 0:
        return 1 if not plain or chance.often(0.5) else 0
    if sort == 1:
        return size
    if sort < 9:
        n = chance.one(_PRIMES)
    elif sort < 14:
        n = size * chance.one((1, 2, 3)) * (1 + chance.below(4))
    else:
        n = size * chance.one((2, 3)) * (1 + chance.below(3)) + chance.one((-1, 1))
    return max(1, min(n, 24, size * _LONGEST))


def _extras(chance: Chance, kind: str, offer: Offer, draws: Sequence[str]) -> dict[str, Any]:
    """Draw what else is unusual about the dataset."""
    found: dict[str, Any] = {}
    if kind in _STREAMS and "streams" in offer.extras and chance.often(0.5):
        drawing = bool(draws) and set(draws) <= set(AMBIENT_DRAWS)
        known = [name for name in SOURCES if name not in ("oneshot", "reshuffled")]
        found["stream"] = chance.one(known + ["begun", "reshuffled"] * drawing)
    if kind == "stateful_iterable" and "iterator state" in offer.extras and chance.often(0.3):
        found["state_at"] = chance.one(("iterator", "both"))
    plain = kind.startswith("stateful") and not found
    if kind.startswith("stateful") and chance.often(0.5):
        found["tree"] = chance.one(trees.TREES if "trees" in offer.extras else ("plain",))
    if plain and "failing states" in offer.extras:
        found["unsaved"] = chance.one((0, 0, 0, 2, 3, 5))
    bare = (SessionPlan(Execution(), ()),)
    for name in list(found):
        # An adapter may carry only some of these.
        alone = Case(HISTORY, Workload(kind=kind, **found), bare)
        if reason_not_offered(alone, offer) is not None:
            del found[name]
    return found


def first_execution(
    chance: Chance, offer: Offer, w: Workload, multi: bool, wishes: Wishes
) -> Execution:
    """Draw the first session's execution.

    Raises:
        Unplayable: no execution has the wished values.
    """
    known = [int(n or 0) for n in offered_values(offer)["workers"]]
    counts = [n for n in known if bool(n) == multi] or known
    x = _execution(chance, offer, Execution(), counts, wishes)
    if w.kind == "map":  # one order with any worker count
        return x
    if w.kind not in offer.fixed_plan:
        return dataclasses.replace(x, lanes=x.workers or None)
    lanes = chance.one((x.workers or None, x.workers or None, 1, 2, 3))
    return dataclasses.replace(x, lanes=lanes)


def changed_execution(
    chance: Chance, offer: Offer, w: Workload, before: Execution, multi: bool, wishes: Wishes
) -> Execution:
    """Draw another execution of the same plan."""
    elastic = multi and w.kind in offer.fixed_plan and (before.lanes or w.kind == "map")
    counts = [before.workers]
    if elastic and "workers" not in wishes:
        counts = [int(n or 0) for n in offered_values(offer)["workers"]]
    return _execution(chance, offer, before, counts, wishes)


def _execution(
    chance: Chance, offer: Offer, base: Execution, counts: Sequence[int], wishes: Wishes
) -> Execution:
    values = offered_values(offer)
    workers = _wished(chance, "workers", counts, wishes)
    changes: dict[str, Any] = {"workers": workers}
    if offer.intervals:
        changes["interval"] = _wished(chance, "interval", offer.intervals, wishes)
    if not workers:
        if wishes.get("prefetch") or wishes.get("persistent"):
            raise Unplayable("prefetching and persistent workers need workers")
        return Execution(lanes=base.lanes, interval=changes.get("interval", 1))
    changes["prefetch"] = _wished(chance, "prefetch", values["prefetch"], wishes)
    changes["persistent"] = _wished(chance, "persistent", offer.persistent, wishes)
    changes["worker_kind"] = chance.one(offer.worker_kinds)
    # Other start methods than the first take seconds, and differ in nothing else.
    others = workers < 3 and chance.often(0.005)
    methods = offer.start_methods if others else offer.start_methods[:1]
    changes["start_method"] = chance.one(methods)
    return dataclasses.replace(base, **changes)


def some_codec(chance: Chance, offer: Offer) -> str:
    """Return a codec for a state, or "" for the loader's first.

    Raises:
        Unplayable: no codec keeps the loader's states.
    """
    if not offer.codecs:
        raise Unplayable("no codec keeps the loader's states")
    return chance.one(offer.codecs) if chance.often(0.3) else ""
