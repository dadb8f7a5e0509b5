"""Ranks that share one plan: which of them this process is, and what they agree on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
import torch.distributed as dist
from torch.utils.data import IterableDataset, IterDataPipe, MapDataPipe

from midepoch.arguments import Options
from midepoch.errors import ArgumentError, RanksError, show
from midepoch.format.state import LANES_MAX
from midepoch.lane.datapipes import shared_root, unwrapped
from midepoch.stateful import is_stateful

_OF_RANKS = {"global_batch_size": None, "on_world_change": "refuse", "uneven": None}
"""The arguments that need ``ranks``, and their defaults."""

__all__ = ["Place", "RankPlaces", "check_ranks", "check_shareable", "is_group"]


class Place(NamedTuple):
    """One of several ranks."""

    rank: int
    world: int


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
    elif _is_mesh(ranks):
        if getattr(ranks, "ndim", 0) == 1:
            return
        raise ArgumentError(
            "ranks should be a mesh of one dimension, that of the data-parallel ranks: "
            f'mesh["dp"], say; got {show(ranks)}'
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
            "batch_size alone"
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


def is_group(ranks: object) -> bool:
    """Tell whether ``ranks`` is a process group, which can be neither copied nor pickled."""
    return dist.is_available() and isinstance(ranks, dist.ProcessGroup)


def _is_mesh(ranks: object) -> bool:
    if not dist.is_available():
        return False
    from torch.distributed.device_mesh import DeviceMesh

    return isinstance(ranks, DeviceMesh)


class RankPlaces:
    """The ranks that share a loader's plan, found when the first of its batches are asked for.

    Trainers make loaders before the process group exists, so nothing is asked of it before.
    """

    def __init__(self, options: Options, batch_size: int) -> None:
        self._ranks: Any = options.ranks
        self._own = batch_size
        self._lanes = options.lanes
        self._uneven = options.uneven
        self._global = options.global_batch_size
        self.recut = options.on_world_change == "recut"
        self.agreed = options.is_given("seed")
        """The root seed is that of all ranks."""
        self.place: Place | None = None

    def find(self) -> Place:
        """Return this process's rank and the number of ranks; see ``settle``.

        Raises:
            RanksError: there is no process group yet, or this process is not in it.
        """
        return _find(self._ranks) if self.place is None else self.place

    def settle(self) -> Place:
        """Return the same, and keep it: a batch or a state depends on it from here on."""
        self.place = self.find()
        return self.place

    def batch_size(self) -> int:
        """Return the samples of a step on all ranks together.

        Raises:
            ArgumentError: the ranks cannot share ``global_batch_size`` equally.
        """
        world = self.find().world
        if self._global is None:
            return self._own * world
        own, rest = divmod(self._global, world)
        if rest or self._own not in (1, own):
            given = f", and batch_size is {self._own}" if not rest else ""
            raise ArgumentError(
                f"global_batch_size={self._global} is shared by {world} ranks{given}; give a "
                "multiple of the number of ranks, and no batch_size beside it"
            )
        return self._global

    def lanes(self, workers: int) -> int:
        """Return the lanes that are dealt to all ranks; ``workers``: those of each.

        By default half of the ranks can go on with them, and twice as many can.

        Raises:
            ArgumentError: the ranks cannot share the lanes that the user gave equally.
        """
        world = self.find().world
        if self._lanes is None:
            return min(2 * world * max(1, workers), LANES_MAX // world * world)
        if self._lanes % world:
            raise ArgumentError(
                f"lanes={self._lanes} are dealt to {world} ranks; give a multiple of the number of "
                "ranks, and of each number that the run may be resumed on"
            )
        return self._lanes

    def agree(self, seed: int) -> int:
        """Return the root seed of all ranks. They call this together, in ``iter()``.

        Raises:
            RanksError: they have no way to agree on a drawn seed.
        """
        self.settle()
        if not self.agreed and not self._alone():
            self._check_agreeable()
            seed = shared_root(seed)
        self.agreed = True
        return seed

    def check_agreed(self) -> None:
        """Refuse to write a state under a seed that is this rank's alone.

        Raises:
            RanksError: no iterator was made so far, and no seed given or loaded.
        """
        if not self.agreed and not self._alone():
            raise RanksError(
                "each rank drew a seed of its own, and they agree on one in iter(): give seed=, "
                "or take states after that"
            )

    def ends_together(self) -> bool:
        """Tell whether ranks to which lanes are dealt end an epoch together; see ``uneven``.

        Those given by their numbers do so by default if the default process group has these.
        """
        if self.find().world == 1:
            return False
        return self._can_ask() if self._uneven is None else self._uneven == "stop"

    def _can_ask(self) -> bool:
        """Tell whether these ranks are those of a process group."""
        if type(self._ranks) is not tuple:
            return True  # these need a group
        ready = dist.is_available() and dist.is_initialized()
        return ready and (dist.get_rank(), dist.get_world_size()) == self._ranks

    def length(self, batches: int) -> int:
        """Return this rank's batches of so many, in an epoch of map-style lanes."""
        rank, world = self.find()
        return batches // world if self.ends_together() else len(range(rank, batches, world))

    def same_ends(self) -> Callable[[int], bool] | None:
        """Return how a rank to which lanes are dealt asks whether all have a batch.

        Raises:
            RanksError: there is no process group to ask them in.
        """
        self.settle()
        if not self.ends_together():
            return None
        return _SameEnds(self._group()).may_deliver

    def gather(self, value: Any) -> list[Any]:
        """Return the values of all ranks, which call this together.

        Raises:
            RanksError: there is no process group.
        """
        values = [value] * self.settle().world
        if len(values) > 1:
            dist.all_gather_object(values, value, group=self._group())
        return values

    def _group(self) -> Any:
        """Return the process group; ``None`` for the default one."""
        if not (dist.is_available() and dist.is_initialized() and self._can_ask()):
            raise RanksError(
                "ranks that are given by their numbers cannot be asked, because the default "
                "process group does not have these: give a process group"
            )
        if is_group(self._ranks):
            return self._ranks
        return self._ranks.get_group() if _is_mesh(self._ranks) else None

    def compare(self, fields: dict[str, bytes]) -> None:
        """Compare the fields of all ranks' states; the ranks call this together.

        Raises:
            RanksError: they differ, or there is no process group.
        """
        self._group()
        first, *others = self.gather(fields)
        odd = [rank for rank, other in enumerate(others, start=1) if other != first]
        if odd:
            names = ", ".join(map(str, odd))
            differ = [name for name in first if any(other[name] != first[name] for other in others)]
            raise RanksError(
                f"the ranks are not at one position: the states of ranks {names} are not rank 0's "
                f"in {', '.join(differ)}"
            )

    def _alone(self) -> bool:
        """Tell whether no other process has to draw the same seed.

        Beside a group of one rank there may be others that have its share, as the peers in another
        dimension of a mesh do.
        """
        if self.settle().world > 1:
            return False
        given = type(self._ranks) is tuple
        return (
            given
            or not (dist.is_available() and dist.is_initialized())
            or (dist.get_world_size() == 1)
        )

    def _check_agreeable(self) -> None:
        world = self.settle().world
        ready = dist.is_available() and dist.is_initialized()
        if type(self._ranks) is tuple or not ready or dist.get_world_size() != world:
            raise RanksError(
                f"{world} ranks cannot agree on a drawn seed, because they are not all ranks of "
                "the default process group: give each of them the same seed="
            )


class _SameEnds:
    """Ranks that end an epoch together, before the first step for which one has no batch.

    They ask each other once for as many steps as the rank with the fewest batches has at hand.
    """

    def __init__(self, group: Any) -> None:
        self._group = group
        self._sure = 0
        gloo = "gloo" in dist.get_backend(group)
        self._device = torch.device("cpu") if gloo else torch.accelerator.current_accelerator()

    def may_deliver(self, ready: int) -> bool:
        """Tell whether all ranks have a batch; ``ready``: those that this one has at hand."""
        if not self._sure:
            fewest = torch.tensor(ready, device=self._device)
            dist.all_reduce(fewest, dist.ReduceOp.MIN, group=self._group)
            self._sure = int(fewest)
        if not self._sure:
            return False
        self._sure -= 1
        return True


def _find(ranks: Any) -> Place:
    if type(ranks) is tuple:
        return Place(*ranks)
    if dist.is_available() and dist.is_initialized():
        if _is_mesh(ranks):
            return Place(ranks.get_local_rank(), ranks.size())
        group = None if type(ranks) is str else ranks
        place = Place(dist.get_rank(group), dist.get_world_size(group))
        if place.rank < 0:
            raise RanksError("this process is not in the process group that ranks names")
        return place
    world = os.environ.get("WORLD_SIZE", "1")
    if world != "1":
        raise RanksError(
            f'ranks="auto" needs the default process group, and there is none, although WORLD_SIZE '
            f"is {world}: call torch.distributed.init_process_group first, or give (rank, world)"
        )
    return Place(0, 1)


Ranks = Literal["auto"] | tuple[int, int] | Any
"""What ``ranks`` may be: also a process group, or a ``DeviceMesh`` of one dimension."""
