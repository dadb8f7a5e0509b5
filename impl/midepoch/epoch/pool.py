"""A loader's workers: made for its plan, kept between epochs, closed when a state is loaded."""

from __future__ import annotations

import os
from typing import Any

import torch
from torch.utils.data import DataLoader

from midepoch.arguments import Options
from midepoch.epoch.between import BetweenEpochs, StartedEpoch
from midepoch.epoch.execution import Execution, LoaderArguments, resolve
from midepoch.format.plan import Plan
from midepoch.format.state import Document, Share
from midepoch.lane.ambient import Ambient
from midepoch.lane.datapipes import PipeSettings, pipe_settings, unwrapped
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

__all__ = ["WorkerPool"]


class WorkerPool:
    """The part of a loader's execution that outlives one iterator.

    Methods take the loader, and do not keep it: a cycle would keep the loader, and so its
    workers, from being freed.
    """

    def __init__(self, options: Options) -> None:
        self.between = BetweenEpochs()
        self.tally = Tally()
        self._options = options
        self._owner = os.getpid()
        self._datasets: LaneDatasets | None = None
        """Without workers: the lanes' objects, if they live on."""
        self._first_state = FirstState()
        self._pipes: PipeSettings | None = None

    def meet_ranks(self, dataset: Any, plan: Plan) -> None:
        """Agree with the other ranks how a data pipe is shared; every rank calls this in iter()."""
        self._pipes = pipe_settings(dataset, plan.seed, plan.lanes)

    def execution(self, loader: LoaderArguments, plan: Plan, *, stateful: bool) -> Execution:
        """Return how the loader's next epoch is executed."""
        piped = self._pipes is not None
        return resolve(loader, self._options, plan, stateful=stateful, piped=piped)

    # Workers

    def take_early(
        self, document: Document, order: Order, execution: Execution, *, continuing: bool
    ) -> tuple[StartedEpoch | None, list[Step | None]]:
        """Return the epoch that was begun early, if it is the next; see ``BetweenEpochs``."""
        self._leave_parent()
        early = self.between.early
        threads = execution.kind == "thread"
        if not continuing or (threads and early is not None and early.ambient != Ambient.here()):
            self.between.drop_early()
        return self.between.take_early(document, order, execution)

    def workers(
        self, loader: DataLoader[Any], plan: Plan, execution: Execution, share: Share | None
    ) -> Workers:
        """Return the idle workers, or new ones; ``share``: the rank whose lanes they run."""
        self._leave_parent()
        idle, self.between.idle = self.between.idle, None
        if idle is not None:
            if not execution.renews or idle.renew(unwrapped(loader.dataset)):
                return idle
            idle.close()
        pin = pinner(loader)
        workers = self._new(loader, self._spec(loader, plan, execution, share), execution)
        return workers if pin is None else PinningWorkers(workers, pin)

    def _new(self, loader: DataLoader[Any], spec: LaneSpec, execution: Execution) -> Workers:
        dataset = unwrapped(loader.dataset)
        if execution.kind == "inline":
            return self._inline(spec, dataset)
        count, depth, timeout = execution.workers, execution.depth, loader.timeout
        if execution.kind == "thread":
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
            restarts_allowed=self._options.worker_restarts,
            tally=self.tally,
        )

    def _spec(
        self, loader: DataLoader[Any], plan: Plan, execution: Execution, share: Share | None
    ) -> LaneSpec:
        interval = execution.interval
        rank, world = share if plan.dealt and share is not None else (0, 1)
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
            interval=max(1, interval // max(1, plan.lanes // world)) if interval else 0,
            replay_check=self._options.replay_check,
            pipes=self._pipes,
            isolate_streams=self._options.isolate_streams,
            single_thread=self._options.single_thread,
            rank=rank,
            world=world,
        )

    def _inline(self, spec: LaneSpec, dataset: Any) -> Workers:
        single = spec.lanes <= 1
        # The copies of a stream without a state are of the object as it is at iter(), as each
        # worker's is: the program may have changed it, with a method set_epoch for instance.
        if not spec.keeps or (spec.iterable and not single and not is_stateful(dataset)):
            datasets = LaneDatasets(spec, dataset, own=False)
            return InlineWorkers(spec, datasets, tally=self.tally)
        if self._datasets is None:
            self._datasets = LaneDatasets(spec, dataset, own=single)
        first_state = self._first_state if single else None
        return InlineWorkers(spec, self._datasets, first_state, tally=self.tally)

    def _leave_parent(self) -> None:
        """Leave the workers to the process that made them, if this is a fork of it."""
        if self._owner != os.getpid():
            self._owner, self.between.idle, self.between.early = os.getpid(), None, None

    # Lanes that live on

    def lanes_wait(self, plan: Plan) -> bool:
        """Tell whether lanes that live on are where the last epoch was left."""
        self._leave_parent()
        if plan.lifetime == "epoch":
            return False
        if self._datasets is not None or self.between.early is not None:
            return True
        return self.between.idle is not None and self.between.clean

    def drop_lanes(self, plan: Plan) -> None:
        """Let the next iterator start from new lanes."""
        self.between.drop()
        if plan.lanes > 1:
            self._datasets = None  # a single lane uses the user's own object: see FirstState

    def resized(self) -> None:
        """Note that the next iterator has another number of workers: its lanes are restored."""
        self.between.drop()
        self._datasets = None

    def state_loaded(self) -> None:
        """Note that a state was loaded: older iterators are stale, and no lane lives on."""
        self.between.loads += 1
        self.resized()
