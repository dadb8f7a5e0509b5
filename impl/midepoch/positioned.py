"""The position of a loader: where its next iterator starts, and what its state says."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any, TypeVar

from torch.utils.data import DataLoader, IterDataPipe

from midepoch import _torch
from midepoch.arguments import Extras
from midepoch.epoch.iterator import EpochIterator
from midepoch.epoch.planning import check_plan, check_takers, make_order, under
from midepoch.epoch.pool import Crew
from midepoch.epoch.progress import Progress, frozen
from midepoch.errors import ReplayWarning, StateFormatError, warn_user
from midepoch.format.plan import Plan
from midepoch.format.state import SAMPLER_SLOTS, Document, Position, SamplerState
from midepoch.lane.datapipes import pipe_name
from midepoch.lane.progress import fresh_lanes
from midepoch.sampling.chain import SamplerChain, is_replayable, put_back_after
from midepoch.sampling.custom import DIGEST_START

__all__ = ["FIXED", "PositionedLoader"]

T = TypeVar("T")

_OWN = {"_crew", "_current", "_progress"}
"""What a copy of a loader does not take over: its present iterator and its workers."""

FIXED = {field.name for field in fields(Extras)} - {"lanes", "seed", "snapshot_every_n_steps"}
"""Arguments beyond torch's that stay readable, and cannot be set later."""


class PositionedLoader(DataLoader[T]):
    """A ``DataLoader`` with a position, and workers that may outlive an iterator."""

    snapshot_every_n_steps: int | None
    _extras: Extras
    _crew: Crew
    _plan: Plan
    _chain: SamplerChain | None
    _stateful: bool
    """The dataset has a state."""
    _iterable: bool
    _loaded: Document | None
    """The position until the first batch, where it is not that of a new loader."""
    _progress: Progress | None
    """Of the newest iterator."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and name in vars(self):
            # The words of torch's loader, which says so of batch_size and others.
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)
        if name == "num_workers":
            self._crew.resize(value)

    # Iterating

    def _open_after(self, rest: EpochIterator) -> EpochIterator | None:
        return self._open() if rest.progress is self._progress else None

    def _open(self) -> EpochIterator:
        if self.num_workers > 0:
            self.check_worker_number_rationality()
        self._crew.meet_ranks(self, self._plan)
        document, going_on = self._start()
        iterator = self._make_iterator(document, going_on=going_on)
        iterator.asked_length = _torch.asked_length(self)
        self._progress = iterator.progress
        self._current = weakref.ref(iterator)
        self._loaded = None
        return iterator

    def _start(self) -> tuple[Document, bool]:
        """Return where the next iterator starts, and whether the lanes are there already."""
        progress = self._progress
        if progress is None or not progress.moved:
            self._crew.forget_lanes(self._plan)  # they may have run ahead without ever delivering
            return self._document(), False
        if progress.finished:
            return progress.next_epoch(), self._crew.waits(self._plan)
        return self._leave(progress)

    def _leave(self, progress: Progress) -> tuple[Document, bool]:
        """Break an epoch off: what ran ahead of the delivered position must not be seen."""
        lives_on = self._plan.lifetime == "run" and self._stateful and not self._iterable
        lost = lives_on and not self._crew.waits(self._plan)
        if lost:
            replay = self._make_iterator(progress.document(), going_on=False, replay_only=True)
            replay.replay()
        progress.order.rewind_to(progress.reach, disturbed=lost)
        return progress.next_epoch(), self._crew.waits(self._plan)

    def _make_iterator(
        self, document: Document, *, going_on: bool, replay_only: bool = False
    ) -> EpochIterator:
        document = under(document, self._plan_here())
        _warn_of_replay(document)
        moved = self._progress is not None and self._progress.moved
        order = make_order(
            document,
            self._chain,
            interval=self.snapshot_every_n_steps or 0,
            going_on=moved and not replay_only,
        )
        crew, way = self._crew, self._crew.way(self, self._plan)
        early, drawn = crew.take_early(order, way, going_on=going_on)
        # Asked before the workers are taken from where they wait.
        going_on = going_on and (early is not None or crew.waits(self._plan))
        return EpochIterator(
            document,
            order,
            way=way,
            workers=crew.workers(self, self._plan) if early is None else early.dealing.workers,
            shelf=crew.shelf,
            going_on=going_on,
            replay_only=replay_only,
            early=early,
            drawn=drawn,
            ended=_begin_next_of(self) if self._extras.prefetch_next_epoch else None,
        )

    def _begin_next(self, progress: Progress) -> None:
        """Begin the next epoch while the caller is still at the end of this one."""
        crew, plan = self._crew, self._plan
        newest = progress is self._progress and crew.waits(plan)
        if not (newest and progress.returnable and is_replayable(self._chain)):
            return
        # iter() raises the error again.
        with suppress(Exception), put_back_after(self._chain):
            document = under(progress.next_epoch(), self._plan_here())
            interval = self.snapshot_every_n_steps or 0
            order = make_order(document, self._chain, interval=interval, going_on=True)
            crew.shelf.begin(document, order, crew.way(self, plan))

    # The position

    def _load(self, document: Document, here: Plan, chain: SamplerChain | None) -> None:
        adopted = {"lifetime"}
        if self._extras.lanes is None:
            adopted.add("lanes")
        if self._extras.seed is None:
            adopted.add("seed")
        here = self._ranked(here)
        check_plan(document, here, adopted=adopted)
        check_takers(document, chain, stateful=self._stateful)
        try:
            document = frozen(document)
        except Exception as error:
            raise StateFormatError(f"a user's part cannot be pickled: {error}") from error
        if chain is not None and document.sampler is not None:
            chain.put_epoch(document.sampler.epoch)
        self._crew.dismiss()
        self._chain = chain
        self._plan = replace(document.plan, sampler_name=here.sampler_name)
        self._loaded = document
        self._progress = None

    def _document(self) -> Document:
        """Return the frozen document of the present position."""
        if self._progress is not None:
            document = self._progress.document()
            if document.position.batches == 0:  # a dataset may have grown between two epochs
                document = under(document, self._plan_here())
            return document
        if self._loaded is not None:
            return self._loaded
        plan = self._plan_here()
        sampler = None
        if self._chain is not None:
            slots = dict.fromkeys(SAMPLER_SLOTS)
            sampler = SamplerState(self._chain.epoch(), self._chain.generators(), slots, (), 0)
        position = Position(
            epoch=0,
            batches=0,
            samples=0,
            digest=None if sampler is None else DIGEST_START,
            carried=() if plan.tail == "rollover" else None,
        )
        lanes = fresh_lanes(plan) if self._iterable or self._stateful else None
        return Document(plan, position, sampler, lanes)

    def _plan_here(self) -> Plan:
        if self._plan.sampler in ("sequential", "shuffle"):
            return replace(self._plan, length=len(self.dataset))  # type: ignore[arg-type]  # map-style
        return self._ranked(self._plan)

    def _ranked(self, plan: Plan) -> Plan:
        pipe = isinstance(self.dataset, IterDataPipe)
        return replace(plan, sampler_name=pipe_name()) if pipe else plan

    # Copies: deepcopy, pickling, spawned processes

    def __getstate__(self) -> dict[str, Any]:
        # A copy stands where this loader stands, and has workers of its own.
        state = {name: value for name, value in vars(self).items() if name not in _OWN}
        return {**state, "_loaded": self._document()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._progress = None
        self._crew = Crew(self.num_workers, self._extras, stateful=self._stateful)

    # What programs written for torch's loader touch

    # torch's own type for these is private; its iterators have what programs use of it.
    @property
    def _iterator(self) -> Any:
        current = getattr(self, "_current", None)
        return None if current is None else current()

    @_iterator.setter
    def _iterator(self, value: Any) -> None:
        current = self._iterator
        self._crew.shelf.drop()
        if value is None and current is not None:
            current._shutdown_workers()


def _begin_next_of(loader: PositionedLoader[Any]) -> Callable[[Progress], None]:
    """Return a call of ``_begin_next`` that does not keep the loader, and so its workers."""
    kept = weakref.ref(loader)

    def begin_next(progress: Progress) -> None:
        there = kept()
        if there is not None:
            there._begin_next(progress)

    return begin_next


def _warn_of_replay(document: Document) -> None:
    lanes = document.lanes
    if lanes is None or document.plan.dataset != "iterable":
        return
    count = sum(entry.replay for entry in lanes.entries if not entry.stated)
    if count:
        warn_user(
            f"{count} batches are produced again to reach the loaded position: neither the "
            "dataset nor its iterator has a state_dict, or no snapshot was taken yet",
            ReplayWarning,
        )
