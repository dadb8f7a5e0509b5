"""A loader's workers: made for its plan, kept where they live on, dismissed by a load."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.data import DataLoader

from midepoch import _torch
from midepoch.arguments import Extras
from midepoch.iterator import Shelf, Way
from midepoch.lanes import LaneSpec
from midepoch.plan import Plan
from midepoch.workers.hosting import LaneDatasets, Pristine
from midepoch.workers.inline import InlineWorkers
from midepoch.workers.processes import ProcessWorkers
from midepoch.workers.protocol import Workers

__all__ = ["Crew"]


class Crew:
    """What of a loader's execution outlives an iterator.

    The loader is handed in, not kept: a cycle would keep it, and its workers, from being dropped.
    """

    def __init__(self, num_workers: int, extras: Extras, *, stateful: bool) -> None:
        self.shelf = Shelf()
        self._extras = extras
        self._num_workers = num_workers
        self._stateful = stateful
        self._datasets: LaneDatasets | None = None
        """Inline: the lanes' objects, where they live on."""
        self._pristine = Pristine()

    def way(self, loader: DataLoader[Any], plan: Plan) -> Way:
        """Return how the loader's epochs are run."""
        free = plan.dataset == "map" and not self._stateful
        lives_on = plan.lifetime == "run" or (
            loader.persistent_workers and free and loader.worker_init_fn is None
        )
        return Way(
            stateful=self._stateful,
            interval=_interval(loader),
            free=free,
            keep=self._num_workers > 0 and lives_on,
            pin=_torch.pinner(loader),
            length=loader.__len__,
        )

    def workers(self, loader: DataLoader[Any], plan: Plan) -> Workers:
        """Return the workers that wait, or new ones."""
        idle, self.shelf.idle = self.shelf.idle, None
        if idle is not None:
            return idle
        spec = _spec(loader, plan)
        if self._num_workers == 0:
            return self._inline(spec, loader.dataset)
        count = self._num_workers
        if spec.iterable or self._stateful:  # a lane's tasks stay at one worker
            count = min(count, max(1, spec.lanes))
        return ProcessWorkers(
            spec,
            loader.dataset,
            count=count,
            depth=loader.prefetch_factor or 1,
            timeout=loader.timeout,
            context=loader.multiprocessing_context or torch.multiprocessing.get_context(),
        )

    def _inline(self, spec: LaneSpec, dataset: Any) -> Workers:
        if not spec.keeps:
            return InlineWorkers(spec, LaneDatasets(spec, dataset, own=False))
        single = spec.lanes <= 1
        if self._datasets is None:
            self._datasets = LaneDatasets(spec, dataset, own=single)
        return InlineWorkers(spec, self._datasets, self._pristine if single else None)

    def waits(self, plan: Plan) -> bool:
        """Tell whether lanes that live on are where the last epoch was left."""
        if plan.lifetime == "epoch":
            return False
        return self._num_workers == 0 or (self.shelf.idle is not None and self.shelf.clean)

    def forget_lanes(self, plan: Plan) -> None:
        """Let the next iterator start from new lanes."""
        self.shelf.drop()
        if plan.lanes > 1:
            self._datasets = None  # a single lane's is the user's own object: see Pristine

    def dismiss(self) -> None:
        """Forget all lanes, and make the iterators made before stale: a state was loaded."""
        self.shelf.loads += 1
        self.shelf.drop()
        self._datasets = None


def _interval(loader: Any) -> int:
    return loader.snapshot_every_n_steps or 0


def _spec(loader: DataLoader[Any], plan: Plan) -> LaneSpec:
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
    )
