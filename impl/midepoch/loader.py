"""``StatefulDataLoader``: arguments, wiring and the public methods."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, Sampler

from midepoch import _torch
from midepoch.admission import check_plan, check_takers
from midepoch.arguments import EmptyRest, Extras, LastBatch, WorkerType
from midepoch.chain import SamplerChain
from midepoch.crew import Crew
from midepoch.errors import ReplayWarning, StateFormatError, UnsupportedError
from midepoch.iterator import EpochIterator
from midepoch.lanes import is_stateful
from midepoch.plan import Plan
from midepoch.planning import make_order, make_plan
from midepoch.progress import Progress, fresh_lanes, frozen, thawed
from midepoch.samplers import DIGEST_START
from midepoch.state import SAMPLER_SLOTS, Document, Position, SamplerState

__all__ = ["StatefulDataLoader"]

T = TypeVar("T")


class StatefulDataLoader(DataLoader[T]):
    """A drop-in for ``torch.utils.data.DataLoader`` whose position can be saved and resumed.

    It takes all arguments of torch's loader, and three more:

    Args:
        snapshot_every_n_steps: how many batches lie between two snapshots of the users' own
            states (of a dataset or an iterator with ``state_dict`` and ``load_state_dict``).
            States are exact at every step whatever it is; between two snapshots, resuming
            produces batches again. ``None`` or 0: no snapshots, replay from the epoch's start.
        lanes: the number of logical workers; by default ``num_workers``, or that of a loaded
            state. The same lanes give the same batches under any number of workers.
        seed: the root of all random seeds; by default drawn from ``generator``, else from
            torch's global generator, or that of a loaded state.

    Raises:
        ArgumentError: ``snapshot_every_n_steps``, ``lanes`` or ``seed`` is out of range.
        UnsupportedError: the dataset is one of torch's data pipes.
        ValueError, TypeError: as torch's loader.

    >>> loader = StatefulDataLoader(list(range(6)), batch_size=2, shuffle=True, seed=7)
    >>> batches = iter(loader)
    >>> first = next(batches)
    >>> state = loader.state_dict()
    >>> rest = [batch.tolist() for batch in batches]
    >>> again = StatefulDataLoader(list(range(6)), batch_size=2, shuffle=True)
    >>> again.load_state_dict(state)
    >>> [batch.tolist() for batch in again] == rest
    True
    """

    def __init__(
        self,
        dataset: Dataset[T],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
        snapshot_every_n_steps: int | None = 1,
        lanes: int | None = None,
        seed: int | None = None,
        last_batch: LastBatch | None = None,
        worker_type: WorkerType = "process",
        prefetch: int | None = None,
        prefetch_next_epoch: bool = False,
        worker_restarts: int = 0,
        empty_rest: EmptyRest = "deliver",
        isolate_streams: bool = True,
        single_thread: bool = True,
    ) -> None:
        if _torch.is_datapipe(dataset):
            raise UnsupportedError(
                "data pipes are not supported yet; wrap them in an IterableDataset"
            )
        extras = Extras(
            snapshot_every_n_steps=snapshot_every_n_steps,
            lanes=lanes,
            seed=seed,
            last_batch=last_batch,
            worker_type=worker_type,
            prefetch=prefetch,
            prefetch_next_epoch=prefetch_next_epoch,
            worker_restarts=worker_restarts,
            empty_rest=empty_rest,
            isolate_streams=isolate_streams,
            single_thread=single_thread,
        )
        extras.check_against(
            num_workers=num_workers,
            drop_last=drop_last,
            prefetch_factor=prefetch_factor,
        )
        self._extras = extras
        self._crew = Crew(num_workers, extras, stateful=is_stateful(dataset))
        super().__init__(
            dataset,
            batch_size,
            shuffle,
            sampler,
            batch_sampler,
            num_workers,
            collate_fn,
            pin_memory,
            drop_last,
            timeout,
            worker_init_fn,
            multiprocessing_context,
            generator,
            prefetch_factor=prefetch_factor,
            persistent_workers=persistent_workers,
            pin_memory_device=pin_memory_device,
            in_order=in_order,
        )
        self.snapshot_every_n_steps = snapshot_every_n_steps
        self._stateful = is_stateful(dataset)
        self._iterable = isinstance(dataset, IterableDataset)
        self._chain: SamplerChain | None = None
        if sampler is not None or batch_sampler is not None:
            self._chain = SamplerChain(self.batch_sampler, self.sampler)
        self._plan = make_plan(
            self,
            self._chain,
            iterable=self._iterable,
            shuffle=bool(shuffle),
            custom_batches=batch_sampler is not None,
        )
        self._loaded: Document | None = None
        self._progress: Progress | None = None

    @property
    def lanes(self) -> int:
        """The number of lanes: as given, by default ``num_workers``, or as loaded."""
        return self._plan.lanes

    @property
    def seed(self) -> int:
        """The root seed: as given, drawn, or as loaded."""
        return self._plan.seed

    # Iterating

    def __iter__(self) -> EpochIterator:  # type: ignore[override]  # torch's has a private type
        if self.num_workers > 0:
            self.check_worker_number_rationality()
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
        if progress.order is not None:
            progress.order.settle(progress.batches, disturbed=lost)
        return progress.next_epoch(), self._crew.waits(self._plan)

    def _make_iterator(
        self, document: Document, *, going_on: bool, replay_only: bool = False
    ) -> EpochIterator:
        document = replace(document, plan=self._plan_here())
        _warn_of_replay(document)
        moved = self._progress is not None and self._progress.moved
        order = make_order(
            document,
            self._chain,
            interval=self.snapshot_every_n_steps or 0,
            going_on=moved and not replay_only,
        )
        return EpochIterator(
            document,
            order,
            custom=self._chain is not None,
            way=self._crew.way(self, self._plan),
            workers=self._crew.workers(self, self._plan),
            shelf=self._crew.shelf,
            going_on=going_on,
            replay_only=replay_only,
        )

    # States

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last batch delivered, as a new dict (STATE-1).

        Nothing is drawn, moved or waited for (BASIS-4, BASIS-5).
        """
        return thawed(self._document()).to_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Let the next iterator go on where ``state`` was taken.

        Iterators made before raise ``StaleIteratorError`` at their next ``next()`` (RESUME-5).

        Raises:
            StateFormatError, StateVersionError: ``state`` is no state that this version reads.
            PlanMismatchError: it is of another plan; every differing field is named.
        """
        document = Document.from_dict(state)
        here = self._plan_here()
        adopted = {"lifetime"}
        if self._extras.lanes is None:
            adopted.add("lanes")
        if self._extras.seed is None:
            adopted.add("seed")
        check_plan(document, here, adopted=adopted)
        check_takers(document, self._chain, stateful=self._stateful)
        try:
            document = frozen(document)
        except Exception as error:
            raise StateFormatError(f"a user's part cannot be pickled: {error}") from error
        if self._chain is not None and document.sampler is not None:
            self._chain.put_epoch(document.sampler.epoch)
        self._crew.dismiss()
        self._plan = replace(document.plan, sampler_name=here.sampler_name)
        self._loaded = document
        self._progress = None

    def _document(self) -> Document:
        """Return the frozen document of the present position."""
        if self._progress is not None:
            document = self._progress.document()
            if document.position.batches == 0:  # a dataset may have grown between two epochs
                document = replace(document, plan=self._plan_here())
            return document
        if self._loaded is not None:
            return self._loaded
        plan = self._plan_here()
        sampler = None
        if self._chain is not None:
            slots = dict.fromkeys(SAMPLER_SLOTS)
            sampler = SamplerState(self._chain.epoch(), self._chain.generators(), slots, (), 0)
        position = Position(0, 0, 0, None if sampler is None else DIGEST_START)
        lanes = fresh_lanes(plan) if self._iterable or self._stateful else None
        return Document(plan, position, sampler, lanes)

    def _plan_here(self) -> Plan:
        if self._plan.sampler in ("sequential", "shuffle"):
            return replace(self._plan, length=len(self.dataset))  # type: ignore[arg-type]  # map-style
        return self._plan

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


def _warn_of_replay(document: Document) -> None:
    lanes = document.lanes
    if lanes is None or document.plan.dataset != "iterable":
        return
    count = sum(entry.replay for entry in lanes.entries if not entry.stated)
    if count:
        warnings.warn(
            f"{count} batches are produced again to reach the loaded position: neither the "
            "dataset nor its iterator has a state_dict, or no snapshot was taken yet",
            ReplayWarning,
            stacklevel=4,
        )
