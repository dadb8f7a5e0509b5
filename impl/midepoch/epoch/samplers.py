"""The samplers that a loader shows as its attributes: they give the order of its next epochs.

Programs read ``loader.sampler`` and ``loader.batch_sampler``, and build other loaders with them.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

from midepoch import _torch
from midepoch.arguments import OfLoader, Options
from midepoch.epoch.planning import make_order, under
from midepoch.epoch.position import LoaderPosition
from midepoch.epoch.ranks import RankPlaces
from midepoch.format.plan import Plan
from midepoch.sampling.batches import Order

__all__ = [
    "Sampling",
    "ShownSequential",
    "ShownShare",
    "ShownShuffle",
    "rebuilt",
    "show",
    "show_plan",
    "show_share",
]


class _Passes:
    """The passes over a shown sampler.

    A pass gives the epoch that the loader's next iterator delivers from. If the loader has not
    moved since the last pass, the next one gives the epoch after that: a program may iterate the
    sampler in place of the loader, and torch's sampler gives another order each time, too.
    """

    def __init__(self, position: LoaderPosition) -> None:
        self.position = position
        self._stand: tuple[int, ...] = ()
        self._count = 0

    def begin(self) -> Iterator[Any]:
        """Begin a pass."""
        stand = self.position.stand()
        self._count = self._count + 1 if stand == self._stand else 0
        self._stand = stand
        return _indices(_order(self.position, self._count))


def _order(position: LoaderPosition, later: int) -> Order:
    """Return the order of a whole epoch, so many after the one that comes next."""
    position.settle()
    document = under(position.upcoming(), position.current_plan(), position.share())
    if position.chain is not None:
        # torchdata's order, of a loaded state. Its samplers stand at the position: each pass over
        # a copy gives what is left of that epoch.
        return make_order(document, copy.deepcopy(position.chain), interval=0, continuing=False)
    plan = document.plan
    if plan.tail == "drop" and not plan.shared:
        plan = replace(plan, tail="keep")  # the batch sampler drops the rest
    start = replace(document.position, batches=0, samples=0, ahead=())
    place = None if position.ranks is None else position.ranks.settle()
    if plan.tail != "rollover":
        start, later = replace(start, epoch=start.epoch + later), 0
    while True:
        document = replace(document, plan=plan, position=start, lanes=None)
        order = make_order(document, None, interval=0, continuing=False, place=place)
        if not later:
            return order
        carried = order.next_epoch_state(0, ended=True).carried
        start, later = replace(start, epoch=start.epoch + 1, carried=carried), later - 1


def _indices(order: Order) -> Iterator[Any]:
    while (step := order.draw()) is not None:
        if isinstance(step.keys, list):
            yield from step.keys
        else:
            yield step.keys


class ShownShuffle(RandomSampler):
    """The shuffled order of a loader's next epochs, which draws from no stream of the caller's.

    A program that sets ``generator`` gets the orders that torch draws from it.

    >>> from midepoch import StatefulDataLoader
    >>> loader = StatefulDataLoader(range(4), batch_size=None, shuffle=True)
    >>> list(loader.sampler) == list(loader)
    True
    """

    def __init__(
        self, data_source: Any, generator: torch.Generator | None, position: LoaderPosition
    ) -> None:
        super().__init__(data_source, generator=generator)
        self._given = generator
        self._passes = _Passes(position)

    @property
    def seed(self) -> int:
        """The loader's root seed."""
        return self._passes.position.plan.seed

    def __iter__(self) -> Iterator[int]:
        return self._passes.begin() if self.generator is self._given else super().__iter__()


class ShownSequential(SequentialSampler):
    """The sequential order of a loader's next epochs; ``position`` is ``None`` beside a batch
    sampler of the user's."""

    def __init__(self, data_source: Any, position: LoaderPosition | None) -> None:
        super().__init__(data_source)
        self._passes = None if position is None else _Passes(position)

    @property
    def seed(self) -> int | None:
        """The loader's root seed."""
        return None if self._passes is None else self._passes.position.plan.seed

    def __iter__(self) -> Iterator[int]:
        return super().__iter__() if self._passes is None else self._passes.begin()


class ShownShare(DistributedSampler[Any]):
    """The share of one of several ranks in a loader's next epochs.

    Trainers leave a loader with a ``DistributedSampler`` as it is. Its ``rank`` and
    ``num_replicas`` are those of the loader's ``ranks``.

    >>> from midepoch import StatefulDataLoader
    >>> loader = StatefulDataLoader(range(6), batch_size=2, ranks=(1, 2), seed=0)
    >>> list(loader.sampler), len(loader.sampler), len(loader)
    ([2, 3, 5], 3, 2)
    """

    def __init__(self, data_source: Any, position: LoaderPosition, *, shuffle: bool) -> None:
        # torch's own constructor asks for the process group, which may not exist yet.
        self.dataset = self.data_source = data_source
        self.shuffle = shuffle
        self.drop_last = position.plan.tail == "drop"
        self._passes = _Passes(position)

    @property
    def _ranks(self) -> RankPlaces:
        ranks = self._passes.position.ranks
        assert ranks is not None
        return ranks

    @property
    def num_replicas(self) -> int:  # type: ignore[override]  # torch's are attributes
        """The number of ranks."""
        return self._ranks.find().world

    @property
    def rank(self) -> int:  # type: ignore[override]  # torch's are attributes
        """This process's rank."""
        return self._ranks.find().rank

    @property
    def seed(self) -> int:  # type: ignore[override]  # torch's are attributes
        """The loader's root seed."""
        return self._passes.position.plan.seed

    @property
    def epoch(self) -> int:  # type: ignore[override]  # torch's are attributes
        """The epoch that the loader's position is in."""
        return self._passes.position.document().position.epoch

    def __iter__(self) -> Iterator[int]:
        return self._passes.begin()

    def __len__(self) -> int:
        plan = self._passes.position.plan
        if plan.dealt:
            (rank, world), own = self._ranks.find(), plan.batch_size or 1
            whole, rest = divmod(len(self.data_source), own)
            return len(range(rank, whole, world)) * own + (rest if whole % world == rank else 0)
        size = self._ranks.batch_size()
        steps, rest = divmod(len(self.data_source), size)
        last = 0 if self.drop_last else -(-rest // self.num_replicas)
        return steps * (size // self.num_replicas) + last

    def set_epoch(self, epoch: int) -> None:
        """Begin ``epoch`` next; see ``StatefulDataLoader.set_epoch``."""
        self._passes.position.set_epoch(epoch)


def show(loader: Any, position: LoaderPosition, *, batched: bool) -> None:
    """Replace torch's default samplers of a loader by those that give its order.

    ``batched``: the user gave a batch sampler.
    """

    def sampler() -> ShownShuffle | ShownSequential | ShownShare:
        source = loader.sampler.data_source
        if position.ranks is not None:
            return ShownShare(source, position, shuffle=isinstance(loader.sampler, RandomSampler))
        if isinstance(loader.sampler, RandomSampler):
            return ShownShuffle(source, loader.generator, position)
        return ShownSequential(source, None if batched else position)

    shown: dict[str, Any] = {"sampler": sampler()}
    if not batched and loader.batch_sampler is not None:
        # It has a sampler of its own, so that a look at the one moves the other no epoch on.
        shown["batch_sampler"] = BatchSampler(sampler(), loader.batch_size, loader.drop_last)
    vars(loader).update(shown)  # torch forbids to set them later


def show_plan(loader: Any, options: Options, plan: Plan) -> None:
    """Put what the plan decides among a loader's attributes, as arguments for another loader."""
    for name, value in (("lanes", plan.lanes), ("seed", plan.seed)):
        vars(loader)[name] = value if options.is_given(name) else OfLoader(value)
    vars(loader)["lifetime"] = plan.lifetime  # a loaded state's own is adopted in any case


def show_share(loader: Any, position: LoaderPosition) -> None:
    """Put this rank's batch size among a loader's attributes, once the ranks are found."""
    if position.ranks is not None and not position.plan.dealt:
        own = position.ranks.batch_size() // position.ranks.find().world
        vars(loader)["batch_size"] = loader.batch_sampler.batch_size = own


class Sampling(NamedTuple):
    """The arguments of a loader that say how it samples."""

    batch_size: Any
    shuffle: Any
    sampler: Any
    batch_sampler: Any
    drop_last: Any
    seed: int | None
    """By default that of the loader whose sampler was given."""
    ranks: Any = None


def rebuilt(dataset: Any, given: Sampling) -> Sampling:
    """Return the arguments of a loader that were read from the attributes of another one.

    Trainers rebuild a loader from ``vars(loader)``. Its samplers are there, although its user did
    not give them, or gave one of them. Other arguments are returned as they are.
    """
    batches, sampler = given.batch_sampler, given.sampler
    if given.ranks is None and any(
        isinstance(one, ShownShare) for one in (sampler, getattr(batches, "sampler", None))
    ):
        return given  # a rank's share, which nobody else would deal
    if batches is not None and given.batch_size is None and _is_shown(sampler, dataset):
        return given._replace(sampler=None, batch_size=1)
    if type(batches) is BatchSampler:
        alike = given.batch_size in (1, batches.batch_size)
        alike = alike and given.drop_last in (False, batches.drop_last)
        inner, size, drop = batches.sampler, batches.batch_size, batches.drop_last
        if alike and (inner is sampler or _is_shown(inner, dataset)):
            given = given._replace(
                sampler=inner, batch_sampler=None, batch_size=size, drop_last=drop
            )
    sampler = given.sampler
    if given.shuffle or given.batch_sampler is not None or not _is_shown(sampler, dataset):
        return given
    shuffled = isinstance(sampler, ShownShuffle) or getattr(sampler, "shuffle", False)
    shuffle = True if shuffled else given.shuffle
    seed, root = given.seed, getattr(sampler, "seed", None)
    if seed is None and root is not None:
        seed = OfLoader(root)
    return given._replace(sampler=None, shuffle=shuffle, seed=seed)


def _is_shown(sampler: Any, dataset: Any) -> bool:
    """Tell whether a sampler is a loader's own, and gives the indices of this dataset."""
    if isinstance(dataset, IterableDataset):
        return _torch.is_endless(sampler)
    shown = isinstance(sampler, (ShownShuffle, ShownSequential, ShownShare))
    return shown and len(sampler.data_source) == len(dataset)
