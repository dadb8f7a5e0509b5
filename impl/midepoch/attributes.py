"""What programs read, set and copy of a loader, beyond its batches and states."""

from __future__ import annotations

import copy
import weakref
from contextlib import suppress
from dataclasses import fields
from typing import Any, TypeVar

from torch.utils.data import DataLoader

from midepoch.arguments import Options
from midepoch.checkpoints import common, merge_states
from midepoch.encoding.canonical import dumps
from midepoch.epoch.iterator import EpochIterator
from midepoch.epoch.planning import batches_left, length_under_rollover
from midepoch.epoch.pool import WorkerPool
from midepoch.epoch.position import LoaderPosition
from midepoch.epoch.progress import thawed
from midepoch.epoch.ranks import RankPlaces, is_group
from midepoch.epoch.samplers import show_plan, show_share
from midepoch.errors import ArgumentError, RanksError
from midepoch.format.dealing import batches_of

__all__ = ["FIXED", "LoaderAttributes"]

T = TypeVar("T")

FIXED = {field.name for field in fields(Options)} - {"snapshot_every_n_steps"}
"""Arguments beyond torch's that stay readable, and cannot be set later."""


class LoaderAttributes(DataLoader[T]):
    """The attributes and copies of a loader; see ``StatefulDataLoader``."""

    _options: Options
    _position: LoaderPosition
    _pool: WorkerPool

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and name in vars(self):
            # In the words of torch's loader for batch_size and others.
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)
        if name == "num_workers" and "_pool" in vars(self):
            self._pool.resized()

    @property
    def _is_accelerate_prepared(self) -> bool:
        """Refuse ``accelerator.prepare``, which asks for this and then builds another loader."""
        raise ArgumentError(
            "accelerator.prepare would build torch's loader in place of this one, with another "
            "order and without its state: call midepoch.integrations.accelerate.prepare("
            "accelerator, loader). Give a transformers Trainer the class of "
            "midepoch.integrations.transformers"
        )

    # Beside these properties, vars(loader) holds both: trainers rebuild a loader from there.

    @property
    def lanes(self) -> int:
        """The number of lanes: as given, by default ``num_workers``, or as loaded."""
        return self._position.plan.lanes

    @property
    def seed(self) -> int:
        """The root seed: as given, drawn, or as loaded."""
        return self._position.plan.seed

    # The epoch, and the place in it

    def __len__(self) -> int:
        """Return the batches of an epoch; under rollover, of the one that the position is in."""
        if self._position.plan.tail != "rollover":
            show_share(self, self._position)
            ranks, plan = self._position.ranks, self._position.current_plan()
            if ranks is None or not plan.dealt:
                return super().__len__()
            if plan.dataset == "map":
                return ranks.length(batches_of(plan, None))
            return -(-super().__len__() // ranks.find().world)
        self._settle()
        source = self.sampler if self._position.ranks is None else self.dataset
        samples = len(source)  # type: ignore[arg-type]  # or else an error, as torch's
        return length_under_rollover(self._position.document(), samples)

    def remaining(self) -> int | None:
        """Return the batches that are left of the epoch that the position is in.

        ``None``: it is not known, as for iterable datasets, for samplers without a length, and for
        ranks that end an epoch together.

        >>> from midepoch import StatefulDataLoader
        >>> loader = StatefulDataLoader(range(10), batch_size=4)
        >>> batches = iter(loader)
        >>> _, left = next(batches), loader.remaining()
        >>> left, len(list(batches))
        (2, 2)
        """
        self._settle()
        document, ranks = self._position.document(), self._position.ranks
        if ranks is not None and document.plan.dealt and ranks.ends_together():
            return None
        left = batches_left(document)
        if left is None and document.plan.dataset == "map":
            with suppress(TypeError):  # a sampler without a length
                left = max(0, len(self) - document.position.batches)
        return left

    # Ranks

    def check_ranks(self) -> None:
        """Compare the positions of the ranks that share the plan; all ranks call this together.

        Raises:
            RanksError: their positions differ, or there is no process group to ask them in. It
                names the ranks, and the fields of their states.
        """
        ranks = self._shared_ranks()
        state = common(self._position.document()).to_dict()
        fields = {part: dumps(state[part]) for part in ("sampler", "lanes")}
        for part in ("plan", "position"):
            fields |= {f"{part}.{name}": dumps(value) for name, value in state[part].items()}
        ranks.compare(fields)

    def gather_state(self, state: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the state of all ranks, which call this together; any number of ranks resumes it.

        A state of ranks that share each batch is one already, and nothing is gathered.

        Args:
            state: one that this rank took before, in place of the present one.

        Raises:
            RanksError: the ranks are not at one position, or there is no process group.
        """
        ranks = self._shared_ranks()
        if state is None:
            state = thawed(self._position.document()).to_dict()
        return merge_states(ranks.gather(state)) if self._position.plan.dealt else state

    def _shared_ranks(self) -> RankPlaces:
        self._settle()
        ranks = self._position.ranks
        if ranks is None:
            raise RanksError("the loader shares its plan with no other rank: ranks is None")
        ranks.check_agreed()
        return ranks

    def set_epoch(self, epoch: int) -> None:
        """Begin ``epoch`` (from 0) next, which a loop that counts epochs by itself may ask for.

        Without it the loader counts. It only goes forward: within the epoch that it was resumed
        in, that epoch goes on, and an earlier one is ignored with a warning (EPOCH-8).

        Raises:
            ArgumentError: ``epoch`` is no integer from 0 on.

        >>> from midepoch import StatefulDataLoader
        >>> loader = StatefulDataLoader(range(4), shuffle=True, seed=0)
        >>> loader.set_epoch(3)
        >>> loader.state_dict()["position"]["epoch"]
        3
        """
        forward = getattr(self.sampler, "set_epoch", None)
        if self._position.chain is not None and callable(forward):
            forward(epoch)  # a sampler of the user's has epochs of its own
            return
        self._position.set_epoch(epoch)

    def _settle(self, *, agree: bool = False) -> None:
        """Find the ranks that share the plan; with ``agree``, let them agree on the root seed."""
        position = self._position
        if position.ranks is None:
            return
        position.settle()
        show_share(self, position)
        if agree:
            position.agree()
            show_plan(self, self._options, position.plan)

    # Copies: deepcopy, pickling, spawned processes

    def __getstate__(self) -> dict[str, Any]:
        if is_group(self._options.ranks):
            raise RanksError(
                "a loader with a process group cannot be pickled, because the group cannot: give "
                'ranks="auto", or build the loader in the other process'
            )
        return self._copied()

    def __copy__(self) -> LoaderAttributes[T]:
        made = type(self).__new__(type(self))
        made.__setstate__(self._copied())
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> LoaderAttributes[T]:
        memo[id(self)] = made = type(self).__new__(type(self))
        memo[id(self._options.ranks)] = self._options.ranks  # copies share the process group
        made.__setstate__(copy.deepcopy(self._copied(), memo))
        return made

    def _copied(self) -> dict[str, Any]:
        # A copy stands where this loader stands, and has workers of its own.
        own = {"_current", "_pool"}
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pool = WorkerPool(self._options)

    # Attributes that programs written for torch's loader use

    _current: weakref.ref[EpochIterator] | None = None

    # torch's own type for these is private; its iterators have what programs use of it.
    @property
    def _iterator(self) -> Any:
        return None if self._current is None else self._current()

    @_iterator.setter
    def _iterator(self, value: Any) -> None:
        if "_pool" not in vars(self):  # torch's constructor sets it to None
            return
        current = self._iterator
        self._pool.between.drop()
        if value is None and current is not None:
            current._shutdown_workers()
