"""Whether ranks can be told from the arguments, and can share the loader's batches or lanes."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist
from torch.utils.data import IterableDataset, IterDataPipe, MapDataPipe

from midepoch.arguments import Options
from midepoch.epoch.ranks import is_group, is_mesh
from midepoch.errors import ArgumentError, show
from midepoch.lane.datapipes import unwrapped
from midepoch.stateful import is_stateful

__all__ = ["check_ranks", "check_shareable"]

_OF_RANKS = {"global_batch_size": None, "on_world_change": "refuse", "uneven": None}
"""The arguments that need ``ranks``, and their defaults."""


def check_ranks(ranks: object) -> None:
    """Refuse what cannot say which rank this is.

    Raises:
        ArgumentError: with the accepted forms.
    """
    if ranks is None or (type(ranks) is str and ranks == "auto") or is_group(ranks):
        return
    if type(ranks) is tuple and len(ranks) == 2 and all(type(number) is int for number in ranks):
        if 0 <= ranks[0] < ranks[1]:
            return
    elif is_mesh(ranks):
        if getattr(ranks, "ndim", 0) == 1:
            return
        raise ArgumentError(
            "ranks should be a mesh of one dimension, that of the data-parallel ranks: "
            f'mesh["dp"], say; got {show(ranks)}'
        )
    if type(ranks) is int and dist.is_available() and ranks == dist.GroupMember.NON_GROUP_MEMBER:
        raise ArgumentError(
            "ranks is what torch.distributed.new_group returns to a process that is not in the "
            "group: make the loader in the group's processes alone"
        )
    got = show(ranks)
    if type(ranks) is tuple and len(ranks) == 2:
        got = f"({show(ranks[0])}, {show(ranks[1])})"
    raise ArgumentError(
        'ranks should be None, "auto", (rank, world) with 0 <= rank < world, a process group or '
        f"a one-dimensional DeviceMesh, got {got}"
    )


def check_shareable(loader: Any, options: Options, sampler: object) -> None:
    """Refuse ``ranks`` for a loader whose batches several ranks cannot share.

    ``sampler``: the user's sampler or batch sampler.

    Raises:
        ArgumentError: what is in the way, and what to do.
    """
    if options.ranks is None:
        for name, default in _OF_RANKS.items():
            if getattr(options, name) != default:
                raise ArgumentError(f"{name} is for ranks that share a plan; give ranks, too")
        return
    whole, own = options.global_batch_size, loader.batch_size or 1
    if whole is not None and whole % own:
        raise ArgumentError(
            f"global_batch_size={whole} is no multiple of batch_size={own}, which is that of each "
            "rank: give one of the two"
        )
    dealt = next((s for s in _chain(sampler) if hasattr(s, "num_replicas")), None)
    if dealt is not None:
        raise ArgumentError(
            f"{type(dealt).__name__} deals samples to ranks, and so does ranks=: each rank would "
            "get a share of its share; leave one of the two out"
        )
    trouble = None
    if sampler is not None:
        trouble = (
            "a sampler of your own, which would have to give the same indices on each rank; give "
            "shuffle, or leave ranks out and give a sampler that deals each rank its share, as "
            "DistributedSampler does"
        )
    elif isinstance(loader.dataset, IterableDataset):
        trouble = _undealable(loader, options)
    elif loader.batch_size is None:
        trouble = "batch_size=None; give batch_size=1 and a collate_fn"
    elif is_stateful(unwrapped(loader.dataset)):
        trouble = _undealable(loader, options)
    elif not loader.in_order:
        trouble = "in_order=False, because the states of the ranks would differ; leave one out"
    elif options.uneven is not None:
        trouble = (
            "a map-style dataset without a state unevenly: the last batch is filled up; leave "
            "uneven out"
        )
    if trouble is not None:
        raise ArgumentError(f"ranks cannot share the batches of {trouble}")


def _undealable(loader: Any, options: Options) -> str | None:
    """Return why the lanes of a dataset, iterable or with a state, cannot be dealt to ranks."""
    if isinstance(loader.dataset, (IterDataPipe, MapDataPipe)):
        return "a data pipe, which is divided between ranks already; leave ranks out"
    if _is_split_by_node(loader.dataset):
        return (
            f"a {type(loader.dataset).__name__} that is split by node already: each rank would get "
            "a share of its share; leave one of the two out"
        )
    if options.global_batch_size is not None or options.on_world_change != "refuse":
        kind = "an iterable-style" if isinstance(loader.dataset, IterableDataset) else "a stateful"
        return (
            f"{kind} dataset: each lane makes whole batches, whatever the number of ranks; give "
            "batch_size, and neither global_batch_size nor on_world_change"
        )
    if options.last_batch == "rollover":
        return (
            'a stateful dataset under last_batch="rollover", because ranks that end an epoch '
            'together leave its last batches out; give "keep" or "discard"'
        )
    if options.lanes == 0:
        return "one stream without lanes; give lanes, a multiple of the number of ranks"
    if not loader.in_order:
        return "in_order=False, because the ranks would take other batches; leave one out"
    return None


def _is_split_by_node(dataset: object) -> bool:
    """Tell whether a dataset reads the rank itself, or one within it, where that can be seen.

    Hugging Face's streams have ``_distributed`` then, and WebDataset's a stage of that name.
    """
    waiting, looked_at = [dataset], 0
    while waiting and looked_at < _LOOKED_AT:
        one, looked_at = waiting.pop(), looked_at + 1
        stage = getattr(one, "__name__", "")
        if getattr(one, "_distributed", None) is not None or stage == "split_by_node":
            return True
        inner = [found for name, found in getattr(one, "__dict__", {}).items() if name in _INNER]
        waiting += [each for x in inner for each in (x if isinstance(x, (list, tuple)) else [x])]
    return False


_INNER = ("dataset", "datasets", "source", "stream", "pipeline")
"""The usual names of the datasets within a dataset."""

_LOOKED_AT = 100
"""The most datasets that are looked at: they may contain each other."""


def _chain(sampler: object) -> list[object]:
    found: list[object] = []
    while sampler is not None and len(found) < 10:
        found.append(sampler)
        inner = getattr(sampler, "sampler", None)
        sampler = getattr(sampler, "batch_sampler", None) if inner is None else inner
    return found
