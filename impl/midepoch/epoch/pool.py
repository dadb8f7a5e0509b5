"""A loader's workers: made for its plan, kept where they live on, dismissed by a load."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.utils.data import DataLoader, IterDataPipe, MapDataPipe

from midepoch.arguments import Extras
from midepoch.epoch.between import Early, Shelf
from midepoch.epoch.execution import Way
from midepoch.format.plan import Plan
from midepoch.lane.ambient import Ambient
from midepoch.lane.datapipes import PipeSettings, pipe_settings
from midepoch.lane.host import LaneDatasets
from midepoch.lane.lane import LaneSpec
from midepoch.lane.passes import FirstState
from midepoch.sampling.batches import Order, Step
from midepoch.stateful import is_stateful
from midepoch.stats import Tally
from midepoch.workers.inline import InlineWorkers
from midepoch.workers.pinning import PinningWorkers, pinner
from midepoch.workers.processes import ProcessWorkers
from midepoch.workers.protocol import Workers
from midepoch.workers.threads import ThreadWorkers

__all__ = ["Crew"]


class Crew:
    """What of a loader's execution outlives an iterator.

    The loader is handed in, not kept: a cycle would keep it, and its workers, from being dropped.
    """

    def __init__(self, num_workers: int, extras: Extras, *, stateful: bool) -> None:
        self.shelf = Shelf()
        self.tally = Tally()
        self._extras = extras
        self._owner = os.getpid()
        self._num_workers = num_workers
        self._stateful = stateful
        self._datasets: LaneDatasets | None = None
        """Inline: the lanes' objects, where they live on."""
        self._first_state = FirstState()
        self._pipes: PipeSettings | None = None

    def resize(self, num_workers: int) -> None:
        """Let the next iterator have so many workers: lanes that live on are put back in them."""
        self._num_workers = num_workers
        self.shelf.drop()
        self._datasets = None

    def meet_ranks(self, loader: DataLoader[Any], plan: Plan) -> None:
        """Settle with the other ranks how a data pipe is shared; at each ``iter``, on all ranks."""
        self._pipes = pipe_settings(loader.dataset, plan.seed, plan.lanes)

    def way(self, loader: DataLoader[Any], plan: Plan) -> Way:
        """Return how the loader's epochs are run."""
        free = plan.dataset == "map" and not self._stateful and self._pipes is None
        lives_on = plan.lifetime == "run" or (
            loader.persistent_workers and free and loader.worker_init_fn is None
        )
        return Way(
            stateful=self._stateful,
            interval=_interval(loader),
            free=free,
            keep=self._num_workers > 0 and lives_on,
            length=loader.__len__,
            tally=self.tally,
            # A cut of a map-style dataset's lanes is one batch of the order.
            in_order=loader.in_order
            or not self._num_workers
            or (plan.dataset == "map" and self._stateful),
            anywhere=free and not loader.in_order and loader.worker_init_fn is None,
            prefetch=self._extras.prefetch,
            shared=self._stateful and not self._num_workers and plan.lifetime == "run",
        )

    def take_early(
        self, order: Order, way: Way, *, going_on: bool
    ) -> tuple[Early | None, list[Step | None]]:
        """Return the epoch that was begun early, if it is the one asked for now; see ``Shelf``."""
        self._leave_parent()
        early = self.shelf.early
        threads = self._extras.worker_type == "thread"
        if not going_on or (threads and early is not None and early.ambient != Ambient.here()):
            self.shelf.drop_early()
        return self.shelf.take_early(order, way)

    def workers(self, loader: DataLoader[Any], plan: Plan) -> Workers:
        """Return the workers that wait, or new ones."""
        self._leave_parent()
        idle, self.shelf.idle = self.shelf.idle, None
        if idle is not None:
            return idle
        pin = pinner(loader)
        workers = self._new(loader, self._spec(loader, plan))
        return workers if pin is None else PinningWorkers(workers, pin)

    def _new(self, loader: DataLoader[Any], spec: LaneSpec) -> Workers:
        dataset = _bare(loader.dataset)
        if self._num_workers == 0:
            return self._inline(spec, dataset)
        count = self._num_workers
        if spec.iterable or self._stateful:  # a lane's tasks stay at one worker
            count = min(count, max(1, spec.lanes))
        depth, timeout = loader.prefetch_factor or 1, loader.timeout
        if self._extras.worker_type == "thread":
            return ThreadWorkers(
                spec, dataset, count=count, depth=depth, timeout=timeout, tally=self.tally
            )
        return ProcessWorkers(
            spec,
            dataset,
            count=count,
            depth=depth,
            timeout=timeout,
            context=loader.multiprocessing_context or torch.multiprocessing.get_context(),
            restarts_allowed=self._extras.worker_restarts,
            tally=self.tally,
        )

    def _spec(self, loader: DataLoader[Any], plan: Plan) -> LaneSpec:
        interval = _interval(loader)
        return LaneSpec(
            iterable=plan.dataset == "iterable",
            batch_size=loader.batch_size,
            drop_last=loader.drop_last,
            automatic=loader.batch_sampler is not None,
            collate=loader.collate_fn,
            init=loader.worker_init_fn,
            lanes=plan.lanes,
            seed=plan.seed,
            keeps=plan.lifetime == "run",
            interval=max(1, interval // max(1, plan.lanes)) if interval else 0,
            pipes=self._pipes,
            isolate_streams=self._extras.isolate_streams,
            single_thread=self._extras.single_thread,
        )

    def _inline(self, spec: LaneSpec, dataset: Any) -> Workers:
        if not spec.keeps:
            datasets = LaneDatasets(spec, dataset, own=False)
            return InlineWorkers(spec, datasets, tally=self.tally)
        single = spec.lanes <= 1
        if self._datasets is None:
            self._datasets = LaneDatasets(spec, dataset, own=single)
        first_state = self._first_state if single else None
        return InlineWorkers(spec, self._datasets, first_state, tally=self.tally)

    def _leave_parent(self) -> None:
        """In a fork of the process that made the loader, leave that process its workers."""
        if self._owner != os.getpid():
            self._owner, self.shelf.idle, self.shelf.early = os.getpid(), None, None

    def waits(self, plan: Plan) -> bool:
        """Tell whether lanes that live on are where the last epoch was left."""
        self._leave_parent()
        if plan.lifetime == "epoch":
            return False
        if self._datasets is not None or self.shelf.early is not None:
            return True
        return self.shelf.idle is not None and self.shelf.clean

    def forget_lanes(self, plan: Plan) -> None:
        """Let the next iterator start from new lanes."""
        self.shelf.drop()
        if plan.lanes > 1:
            self._datasets = None  # a single lane's is the user's own object: see FirstState

    def dismiss(self) -> None:
        """Forget all lanes, and make the iterators made before stale: a state was loaded."""
        self.shelf.loads += 1
        self.shelf.drop()
        self._datasets = None


def _interval(loader: Any) -> int:
    return loader.snapshot_every_n_steps or 0


def _bare(dataset: Any) -> Any:
    """Return the pipe in torch's wrapper around one, where it has a state; else ``dataset``.

    The wrapper, which only makes more functions picklable, hides the two methods.
    """
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        inner = getattr(dataset, "_datapipe", None)
        return inner if is_stateful(inner) else dataset
    return dataset
