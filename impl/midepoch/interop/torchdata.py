"""Reads torchdata's states: the uninterrupted run of its loader continues here.

``torchdata_layout`` reads the keys, and ``torchdata_order`` continues the shuffled order. A
torchdata state holds neither an epoch's number nor random streams of values: epochs count from 0
here, and random augmentation follows this loader's seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from torch.utils.data import DataLoader

from midepoch.errors import (
    ForeignStateError,
    PlanMismatchError,
    ReplayMismatchError,
    ReplayWarning,
    warn_user,
)
from midepoch.format import checks
from midepoch.format.consistency import COUNT_MAX
from midepoch.format.plan import Lifetime, Plan
from midepoch.format.state import Document, LaneEntry, LanesState, Position, Share
from midepoch.interop.torchdata_layout import Saved, WorkerPart, is_torchdata, parse, share
from midepoch.interop.torchdata_order import order_chain
from midepoch.interop.torchdata_samplers import Drawn, custom, sequential, shuffled
from midepoch.lane.progress import FRESH, fresh_lanes
from midepoch.sampling.chain import SamplerChain
from midepoch.stateful import is_stateful

__all__ = ["LoaderFacts", "Translated", "advance", "facts_of", "plan_of", "translate"]

_ENDLESS = checks.record({"samples_yielded": checks.integer(0, COUNT_MAX)})


@dataclass(frozen=True)
class LoaderFacts:
    """The facts about the loader that loads a state.

    The translation assumes that the saving loader had the same arguments.
    """

    plan: Plan
    chain: SamplerChain | None
    source: Any
    """The dataset."""
    stateful: bool
    """The dataset has a state."""
    workers: int
    drop_last: bool
    given: bool
    """A generator was given."""
    persistent: bool
    in_order: bool
    skips: bool
    """An empty rest of an epoch is skipped (``empty_rest="skip"``)."""
    share: Share | None
    """The share of the order that this process delivers."""


def facts_of(
    loader: DataLoader[Any],
    plan: Plan,
    first: Plan,
    chain: SamplerChain | None,
    *,
    skips: bool,
    share: Share | None,
) -> LoaderFacts:
    """Return the facts about a loader as it was built, before another order was loaded.

    ``plan``: the present one. ``first``, ``chain``: before anything was loaded.
    """
    if first.sampler == "shuffle":
        length = len(loader.dataset)  # type: ignore[arg-type]  # map-style
        plan = replace(plan, sampler="shuffle", sampler_name=None, length=length)
    return LoaderFacts(
        plan=plan,
        chain=chain,
        source=loader.dataset,
        stateful=is_stateful(loader.dataset),
        workers=loader.num_workers,
        drop_last=loader.drop_last,
        given=loader.generator is not None,
        persistent=loader.persistent_workers,
        in_order=loader.in_order,
        skips=skips,
        share=share,
    )


def plan_of(document: Document, facts: LoaderFacts) -> tuple[Plan, SamplerChain | None]:
    """Return the plan and the samplers that ``document`` is for.

    They are the loader's own, unless it shuffles and the document has torchdata's order.
    """
    plan, name = facts.plan, document.plan.sampler_name
    if plan.sampler != "shuffle" or plan.tail == "rollover":
        return plan, facts.chain
    chain = order_chain(name, facts.source, batch_size=plan.batch_size, drop_last=facts.drop_last)
    if chain is None:
        return plan, facts.chain
    return replace(plan, sampler="custom", sampler_name=name, length=None), chain


@dataclass(frozen=True)
class Translated:
    """A document, and how far beyond it the state was taken.

    torchdata saves how many batches were delivered since its snapshot, but not by which worker.
    If that cannot be computed, the loader has to produce the batches again.
    """

    document: Document
    skip: int
    """Batches to produce again after the document's position."""
    finish: bool
    """The epoch's end was seen after them."""

    @property
    def complete(self) -> bool:
        """Whether the document is the whole state."""
        return not self.skip and not self.finish


def translate(state: object, facts: LoaderFacts) -> Translated | None:
    """Return what ``state`` means for the loader; ``None`` if it is not torchdata's.

    Raises:
        StateFormatError: it is malformed (DOC-1).
        PlanMismatchError: it is of a loader with other arguments (REFUSE-3).
        ForeignStateError: it lacks information that is needed to continue (REFUSE-1).
    """
    if type(state) is not dict or not is_torchdata(state):
        return None
    saved = parse(state)
    _check_plan(saved, facts)
    translated = _iterable(saved, facts) if saved.iterable else _map(saved, facts)
    # The checks of a document refuse counts that no run reaches.
    document = Document.from_dict(translated.document.to_dict())
    position = replace(document.position, share=facts.share)
    return replace(translated, document=replace(document, position=position))


def advance(iterator: Iterator[Any], translated: Translated) -> None:
    """Produce the batches delivered since the document again, without delivering them.

    Raises:
        ReplayMismatchError: the epoch is shorter or longer than the one that was saved.
    """
    if translated.skip:
        warn_user(
            f"{translated.skip} batches are produced again to reach the loaded position: "
            "torchdata's state does not say which of its workers had delivered them",
            ReplayWarning,
        )
    for done in range(translated.skip):
        try:
            next(iterator)
        except StopIteration:
            raise ReplayMismatchError(
                f"the epoch ended after {done} of {translated.skip} batches that were delivered "
                "since the snapshot in torchdata's state; its dataset gives less than before"
            ) from None
    if translated.finish and next(iterator, iterator) is not iterator:
        raise ReplayMismatchError(
            "torchdata's state is of an epoch's end, but the dataset gives more batches here"
        )


def _check_plan(saved: Saved, facts: LoaderFacts) -> None:
    plan = facts.plan
    kind = "iterable" if saved.iterable else "map"
    differing: list[tuple[str, object, object]] = []
    if kind != plan.dataset:
        differing.append(("dataset", kind, plan.dataset))
    if plan.tail == "rollover":
        differing.append(("tail", "keep", plan.tail))
    if differing:
        raise PlanMismatchError(differing)
    if saved.workers and not facts.in_order:
        raise ForeignStateError(
            "in_order=False: torchdata's states do not say which batches were delivered ahead; "
            "load it under in_order=True",
            "$._snapshot",
        )
    in_turn = (saved.drawn - 1) % max(1, saved.workers) == saved.last
    if saved.workers and not saved.iterable and not in_turn:
        raise ForeignStateError(
            f"after {saved.drawn} batches, worker {saved.last} cannot have delivered the last "
            "one: it was saved with in_order=False",
            "$._snapshot._last_yielded_worker_id",
        )


def _lifetime(saved: Saved, facts: LoaderFacts) -> Lifetime:
    if saved.workers and facts.workers:
        return facts.plan.lifetime
    return "epoch" if saved.workers else "run"


# Map-style


def _map(saved: Saved, facts: LoaderFacts) -> Translated:
    plan = replace(facts.plan, lanes=saved.workers, lifetime=_lifetime(saved, facts))
    if plan.sampler == "sequential":
        drawn = sequential(saved, plan)
    elif facts.chain is None:
        drawn = shuffled(
            saved,
            plan,
            facts.source,
            drop_last=facts.drop_last,
            given=facts.given,
            persistent=facts.persistent,
        )
    else:
        drawn = custom(saved, plan, facts.chain, skips=facts.skips)
    return _map_document(saved, facts, plan, drawn)


def _map_document(saved: Saved, facts: LoaderFacts, plan: Plan, drawn: Drawn) -> Translated:
    """Put the sampler and the workers' datasets together."""
    stated = [bool(part.stated) for part in saved.parts]
    stateful = facts.stateful or any(stated)
    if drawn.name is not None:
        plan = replace(plan, sampler="custom", sampler_name=drawn.name, length=None)
    ended = saved.finished or drawn.next is not None
    # A dataset that lives on ends the epoch in the state in which the workers leave it.
    outlives = stateful and saved.workers > 0 and plan.lifetime == "run"
    finish = drawn.finish or (ended and outlives)
    if ended and not finish:
        position = Position(1, 0, 0, drawn.next_digest)
        lanes = None
        if stateful:
            beginning = plan.lifetime == "epoch"
            _check_stated(saved, all(stated), 0 if beginning else drawn.batches)
            lanes = fresh_lanes(plan) if beginning else _map_lanes(saved, 0, 0)
        return Translated(Document(plan, position, drawn.next, lanes), 0, False)
    if drawn.here is None and plan.sampler == "custom":
        raise ForeignStateError(
            "the sampler's part is that of the next epoch, the dataset's is not",
            "$._snapshot._worker_snapshots",
        )
    position = Position(0, drawn.batches, drawn.samples, drawn.digest)
    lanes = None
    if stateful:
        _check_stated(saved, all(stated), drawn.batches)
        lanes = _map_lanes(saved, saved.drawn, drawn.batches)
    return Translated(Document(plan, position, drawn.here, lanes), drawn.skip, finish)


def _map_lanes(saved: Saved, cut: int, batches: int) -> LanesState:
    count = len(saved.parts)
    entries = []
    for number, part in enumerate(saved.parts):
        ordinal = share(cut, count, number)
        replay = share(batches, count, number) - ordinal
        entries.append(LaneEntry(part.dataset, None, part.stated, ordinal, False, replay))
    return LanesState(batches % count, tuple(entries))


# Iterables


def _iterable(saved: Saved, facts: LoaderFacts) -> Translated:
    plan = replace(facts.plan, lanes=saved.workers, lifetime=_lifetime(saved, facts))
    _check_batching(saved, plan)
    stated = [bool(part.stated) for part in saved.parts]
    kept = all(stated)
    if facts.stateful or any(stated):
        _check_stated(saved, kept, saved.yielded + saved.since)
    outlives = saved.workers > 0 and plan.lifetime == "run" and kept
    if saved.finished and not outlives:
        return Translated(_next_epoch(saved, plan), 0, False)
    if _deal_again(saved, plan, kept):
        return Translated(_dealt(plan, [FRESH] * saved.workers, 0, 0), saved.delivered, False)
    count = len(saved.parts)
    entries = [
        _entry(part, share(saved.yielded, count, number)) for number, part in enumerate(saved.parts)
    ]
    turn = (saved.last + 1) % count if saved.workers else 0
    document = _dealt(plan, entries, turn, saved.yielded)
    return Translated(document, saved.since, saved.finished)


def _deal_again(saved: Saved, plan: Plan, kept: bool) -> bool:
    """Tell whether the epoch has to be dealt again to find each worker's position."""
    if not saved.workers or not saved.delivered:
        return False
    if plan.batch_size is not None:
        return not kept and (saved.since > 0 or any(part.ended for part in saved.parts))
    # Without automatic batching, torchdata notes no worker's end. The part of an ended worker
    # may look like a beginning.
    if not kept or saved.workers == 1 or plan.lifetime == "epoch":
        return not kept or saved.workers > 1
    raise ForeignStateError(
        "without automatic batching, and with persistent workers, it does not say which of the "
        "workers had ended",
        "$._snapshot._worker_snapshots",
    )


def _entry(part: WorkerPart, batches: int) -> LaneEntry:
    """Return a lane's entry; if lanes ended early, only the sum of all ``batches`` is right."""
    before, since = (batches, 0) if part.stated else (0, batches)
    return LaneEntry(part.dataset, part.iterator, part.stated, before, part.ended, since)


def _dealt(plan: Plan, entries: list[LaneEntry], turn: int, batches: int) -> Document:
    # The state does not tell how short batches were: this is the most samples there can be.
    position = Position(0, batches, batches * (plan.batch_size or 1))
    return Document(plan, position, None, LanesState(turn, tuple(entries)))


def _next_epoch(saved: Saved, plan: Plan) -> Document:
    entries = [FRESH] * len(saved.parts)
    if plan.lifetime == "run" and not saved.workers:
        part = saved.parts[0]
        if part.dataset is not None:
            entries = [LaneEntry(part.dataset, None, ("dataset",), 0, False, 0)]
    return Document(plan, Position(1, 0, 0), None, LanesState(0, tuple(entries)))


def _check_batching(saved: Saved, plan: Plan) -> None:
    """Compare the batch size with what the endless sampler of an iterable says."""
    batching = saved.outer if saved.inner is None else saved.inner
    size = plan.batch_size
    if (batching is None) != (size is None):
        found = None if batching is None else "some"
        raise PlanMismatchError([("batch_size", found, size)])
    if batching is None or size is None:
        return
    where = "_index_sampler_state" if saved.inner is None else "_sampler_iter_state"
    taken = _ENDLESS(batching, f"{saved.path}.{where}")["samples_yielded"]
    if saved.drawn and taken and taken != saved.drawn * size:
        raise PlanMismatchError([("batch_size", taken // saved.drawn, size)])


def _check_stated(saved: Saved, stated: bool, batches: int) -> None:
    if batches and not stated:
        raise ForeignStateError(
            "the dataset here has a state, but the state holds none of some worker",
            "$._snapshot._worker_snapshots" if saved.workers else "$.dataset_state",
        )
