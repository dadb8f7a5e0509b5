"""How a loader's epochs are executed.

``resolve`` decides everything that depends on ``num_workers``, ``worker_type``,
``persistent_workers`` and ``in_order``. With the same plan, no batch depends on them. Two values
of a plan come from them by default: ``lifetime_of`` here, and the lanes in ``planning``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from torch.utils.data import IterableDataset, IterDataPipe

from midepoch.arguments import Options
from midepoch.format.plan import Lifetime, Plan
from midepoch.lane.host import is_copyable
from midepoch.stateful import is_stateful

__all__ = ["Execution", "LoaderArguments", "lifetime_of", "resolve"]


class LoaderArguments(Protocol):
    """The attributes of a loader that decide how it is executed.

    Users may set them between two epochs.
    """

    num_workers: int
    prefetch_factor: int | None
    persistent_workers: bool
    in_order: bool
    worker_init_fn: Callable[[int], None] | None
    snapshot_every_n_steps: int | None


@dataclass(frozen=True)
class Execution:
    """How an epoch of a loader is executed."""

    kind: Literal["inline", "thread", "process"]
    """The kind of workers. ``inline``: none; the caller runs a task when it asks for the batch."""
    workers: int
    """How many threads or processes run tasks."""
    depth: int
    """The most tasks under way at each worker."""
    prefetch: int | None
    """The most tasks under way in all workers together; ``None``: ``depth`` at each worker."""
    order: Literal["plan", "ready"]
    """Batches are delivered in the plan's order, or as they become ready."""
    routing: Literal["lane", "free", "anywhere"]
    """The rule that picks a task's worker.

    - ``lane``: the one that hosts the task's lane.
    - ``free``: the same, but with fewer lanes than workers, tasks go to all workers in turn.
    - ``anywhere``: the one with the least to do, since every worker hosts every lane.
    """
    between_epochs: Literal["keep", "close"]
    """Workers wait for the next epoch, or are closed at an epoch's end."""
    renews: bool
    """Workers that wait get a new copy of the dataset for each epoch."""
    objects: Literal["own", "shared"]
    """``shared``: the dataset has a state, and all iterators of the loader use the same object."""
    stateful: bool
    """The dataset has a state."""
    interval: int
    """Batches between two snapshots; 0: none."""


def resolve(
    loader: LoaderArguments, options: Options, plan: Plan, *, stateful: bool, piped: bool = False
) -> Execution:
    """Return how a loader with these arguments executes ``plan``.

    ``stateful``: the dataset has a state. ``piped``: it is a data pipe that lanes share.
    """
    inline = loader.num_workers == 0
    iterable = plan.dataset == "iterable"
    # Without a state, a batch of a map-style dataset depends on its keys alone: any worker can
    # run its task.
    unbound = not iterable and not stateful and not piped
    interchangeable = unbound and loader.worker_init_fn is None
    # The snapshots of a map-style dataset's lanes are taken together, at one batch of the order,
    # so its batches stay in order.
    in_order = loader.in_order or inline or (stateful and not iterable)
    lives_on = plan.lifetime == "run"
    renews = loader.persistent_workers and not lives_on and stateful and iterable
    keeps = lives_on or renews or (loader.persistent_workers and interchangeable)
    hosts = loader.num_workers
    if iterable or stateful:
        hosts = min(hosts, max(1, plan.lanes))  # a lane's tasks stay at one worker
    routing: Literal["lane", "free", "anywhere"] = "free" if unbound else "lane"
    if interchangeable and not loader.in_order:
        routing = "anywhere"
    return Execution(
        kind="inline" if inline else options.worker_type,
        workers=max(1, hosts),
        depth=loader.prefetch_factor or 1,
        prefetch=options.prefetch,
        order="plan" if in_order else "ready",
        routing=routing,
        between_epochs="keep" if keeps and not inline else "close",
        objects="shared" if stateful and inline and lives_on else "own",
        renews=renews,
        stateful=stateful,
        interval=loader.snapshot_every_n_steps or 0,
    )


def lifetime_of(loader: Any, *, given: Lifetime | None = None) -> Lifetime:
    """Return how long a lane's dataset object lives: one epoch, or the whole run.

    ``given``: the user's choice. By default a stream with a state is copied for each epoch: some,
    Hugging Face's among them, keep a loaded state, and would begin each later epoch there. Other
    objects live as long as in torch's loader: without workers, the object is the caller's own.
    """
    if given is not None:
        return given
    dataset = loader.dataset
    stream = isinstance(dataset, IterableDataset) and not isinstance(dataset, IterDataPipe)
    if stream and is_stateful(dataset):
        return "epoch" if loader.num_workers or is_copyable(dataset) else "run"
    return "run" if loader.num_workers == 0 or loader.persistent_workers else "epoch"
