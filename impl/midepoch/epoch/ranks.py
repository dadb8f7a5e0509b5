"""Ranks that share one plan: which of them this process is, and what they agree on."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
import torch.distributed as dist

from midepoch.arguments import Options
from midepoch.errors import ArgumentError, RanksError
from midepoch.format.state import LANES_MAX
from midepoch.lane.datapipes import shared_root

__all__ = ["Place", "RankPlaces", "is_group", "is_mesh"]


class Place(NamedTuple):
    """One of several ranks."""

    rank: int
    world: int


def is_group(ranks: object) -> bool:
    """Tell whether ``ranks`` is a process group, which can be neither copied nor pickled."""
    return dist.is_available() and isinstance(ranks, dist.ProcessGroup)


def is_mesh(ranks: object) -> bool:
    """Tell whether ``ranks`` is a ``DeviceMesh``."""
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

        Those given by their numbers do so by default if the default process group has as many. All
        of its processes decide alike then, in whatever order it has them.
        """
        if self.find().world == 1:
            return False
        return self._can_ask() if self._uneven is None else self._uneven == "stop"

    def _can_ask(self) -> bool:
        """Tell whether these ranks are those of a process group."""
        if type(self._ranks) is not tuple:
            return True  # these need a group
        ready = dist.is_available() and dist.is_initialized()
        return ready and dist.get_world_size() == self._ranks[1]

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
        """Return the values of all ranks, in their order; the ranks call this together.

        Raises:
            RanksError: there is no process group, or two of its processes have one number.
        """
        rank, world = self.settle()
        if world == 1:
            return [value]
        found = [(rank, value)] * world
        dist.all_gather_object(found, (rank, value), group=self._group())
        values = dict(found)
        if len(values) < world:
            numbers = [number for number, _ in found]
            raise RanksError(
                f"the processes of the group say that they are ranks {numbers}: give each of them "
                "a number of its own"
            )
        return [values[number] for number in range(world)]

    def _group(self) -> Any:
        """Return the process group; ``None`` for the default one."""
        if not (dist.is_available() and dist.is_initialized() and self._can_ask()):
            raise RanksError(
                "ranks that are given by their numbers cannot be asked, because there is no "
                "default process group of as many processes: give a process group"
            )
        if is_group(self._ranks):
            return self._ranks
        return self._ranks.get_group() if is_mesh(self._ranks) else None

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
        if is_mesh(ranks):
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
