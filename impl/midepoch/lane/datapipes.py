"""Data pipes: their sharding and the seeds of their shuffling, as in torch's loader.

Lanes take the place of workers in the sharding, and the seeds are computed from the root seed
and the epoch, so that a resume shuffles as before. In a process group of torch.distributed, the
ranks shard together and share the root seed of rank 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch.utils.data import IterDataPipe, MapDataPipe
from torch.utils.data.graph import traverse_dps
from torch.utils.data.graph_settings import (
    apply_random_seed,
    apply_sharding,
    get_all_graph_pipes,
)

from midepoch.format.parts import Share
from midepoch.format.seeds import derive
from midepoch.stateful import is_stateful

__all__ = ["PipeSettings", "group_share", "pipe_settings", "shared_root", "unwrapped"]

PURPOSE = "x-datapipe"
"""The purpose of their derived seeds: an extension, as the specification covers no pipes."""


@dataclass(frozen=True)
class PipeSettings:
    """How the lanes of one rank share a data pipe, and shuffle it."""

    root: int
    """The root seed, the same on all ranks."""
    rank: int
    world: int
    lanes: int

    def shard(self, pipe: Any, lane: int) -> None:
        """Give ``pipe`` the share of a lane: of a rank first, then of a lane of that rank."""
        lanes = max(1, self.lanes)
        apply_sharding(pipe, lanes * self.world, lane * self.world + self.rank)

    def seed(self, pipe: Any, epoch: int) -> None:
        """Give everything random in ``pipe`` its seed for an epoch; all lanes get the same."""
        if isinstance(pipe, IterDataPipe):
            generator = torch.Generator()
            generator.manual_seed(derive(self.root, PURPOSE, epoch) >> 1)
            apply_random_seed(pipe, generator)


def pipe_settings(dataset: Any, root: int, lanes: int) -> PipeSettings | None:
    """Return how lanes share and seed ``dataset``; ``None`` if it is no pipe that needs it.

    In a process group, this blocks until all ranks are here.
    """
    if isinstance(dataset, MapDataPipe):
        pipes = get_all_graph_pipes(traverse_dps(dataset))
        if not any(callable(getattr(pipe, "apply_sharding", None)) for pipe in pipes):
            return None
    elif not isinstance(dataset, IterDataPipe):
        return None
    rank, world = _ranks()
    return PipeSettings(root if world == 1 else shared_root(root), rank, world, lanes)


def unwrapped(dataset: Any) -> Any:
    """Return the pipe inside torch's wrapper of a data pipe, if the pipe has a state.

    The wrapper only makes more functions picklable, and hides the two methods of a state.
    """
    if isinstance(dataset, (IterDataPipe, MapDataPipe)):
        inner = getattr(dataset, "_datapipe", None)
        return inner if is_stateful(inner) else dataset
    return dataset


def group_share() -> Share | None:
    """Return this rank of the process group; ``None`` if it has no other (WORLD-2)."""
    share = _ranks()
    return None if share.world == 1 else share


def _ranks() -> Share:
    """Return this rank and the number of ranks: 0 and 1 without a process group."""
    if dist.is_available() and dist.is_initialized():
        return Share(dist.get_rank(), dist.get_world_size())
    return Share(0, 1)


def shared_root(root: int) -> int:
    """Return rank 0's root seed; every rank calls this at the same place of its program."""
    # 64 bits without a sign, in a tensor of signed numbers.
    number = torch.tensor(root - (1 << 63), dtype=torch.int64)
    group = None if "gloo" in str(dist.get_backend()) else dist.new_group(backend="gloo")
    try:
        dist.broadcast(number, src=0, group=group)
    finally:
        if group is not None:
            dist.destroy_process_group(group)
    return int(number.item()) + (1 << 63)
