"""Datasets, samplers and epochs for loaders that take torch's: three of the adapters use them.

``draw`` is a function that draws from the loader's own documented source, if it has one. An adapter
of another loader may import this module too; it is the only one of the suite that it may import.
"""

# Nothing is typed: the classes are part of the adapters, whose lines scripts of failures carry.
# ruff: noqa: D102

import torch
from torch.utils import data

__all__ = [
    "RANKS", "SET_UP", "EpochsFromOutside", "alone", "collate", "dataset_of", "lane", "lifetime",
    "order", "order_of_rank", "reason_to_decline", "sampler", "set_up",
]  # fmt: skip

RANKS = ("world", "shared", "cut anew")
"""The extras of the adapters whose ranks have the arguments of ``order_of_rank``."""

SET_UP = ("set up", "divided")
"""The streams whose datasets workers set up."""


def lane():
    """Return the number of this lane or worker, and how many there are."""
    info = data.get_worker_info()
    return (info.id, info.num_workers) if info else (0, 1)


class Map:
    """A map-style dataset; its user may change its length between two epochs."""

    def __init__(self, w, draw=None):
        self.w, self.draw, self.length = w, draw, w.n

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.w.row(i, self.draw)

    def fingerprint(self):
        """Tell which data these are, to loaders that ask."""
        return self.w.data or None


class MapOfBatches(Map):
    """The same, which gives all samples of a batch at once."""

    def __getitems__(self, ids):
        return [self[i] for i in ids]


class Stream(data.IterableDataset):
    """An iterable dataset: each lane yields its share, by ``get_worker_info``."""

    def __init__(self, w, draw=None):
        self.w, self.draw = w, draw

    def __iter__(self):
        self.w.note("iter")
        return self.rows()

    def rows(self):
        for i in self.share():
            yield self.w.row(i, self.draw)

    def share(self):
        number, count = lane()
        return range(self.w.n)[number::count]


class StatefulStream(Stream):
    """The same with a state; the first iteration after a load continues from the state."""

    position, loaded = 0, None

    def __iter__(self):
        self.position, self.loaded = self.loaded or 0, None
        return super().__iter__()

    def rows(self):
        share = self.share()
        while self.position < len(share):
            self.position += 1
            yield self.w.row(share[self.position - 1], self.draw)

    def state_dict(self):
        return self.w.dataset_state(self.position if self.loaded is None else self.loaded)

    def load_state_dict(self, state):
        self.loaded = self.w.dataset_position(state)


class Made(data.IterableDataset):
    """An iterable dataset whose rows come from a new source in each pass."""

    made = None

    def __init__(self, w, draw=None):
        self.w, self.draw = w, draw

    def __iter__(self):
        self.w.note("iter")
        return self.w.stream_of(*lane(), self.draw)


def source(dataset):
    """Return the one source of a dataset for all passes; it is made in the process that uses it."""
    if dataset.made is None:
        dataset.made = dataset.w.source(*lane(), dataset.draw)
    return dataset.made


class OwnIterator(Made):
    """An iterable dataset that is its own iterator."""

    def __iter__(self):
        self.w.note("iter")
        iter(source(self))
        return self

    def __next__(self):
        return next(source(self))


class Kept:
    """A dataset whose state is that of its source."""

    made = None

    def state_dict(self):
        return source(self).state_dict()

    def load_state_dict(self, state):
        source(self).load_state_dict(state)


class KeptMap(Kept, Map):
    """A map-style dataset with a state; its rows show what it fetched before."""

    def __getitem__(self, i):
        return source(self)[i]


class KeptMapOfBatches(KeptMap, MapOfBatches):
    """The same, which gives all samples of a batch at once."""


class KeptStream(Kept, Made):
    """A Stateful iterable."""

    def __iter__(self):
        self.w.note("iter")
        return iter(source(self))


class KeptOwnIterator(Kept, OwnIterator):
    """A Stateful iterable that is its own iterator."""


class IteratorState(Made):
    """An iterable dataset whose iterator has the state."""

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*lane(), self.draw)


class BothStates(Made):
    """The same, with a state of the dataset too: the number of rows that it ever gave."""

    count = 0

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*lane(), self.draw, self)

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


def dataset_of(w, draw=None):
    """Return the dataset of the workload's form."""
    return {
        "map": Map,
        "map of batches": MapOfBatches,
        "iterable": Stream,
        "stream": Made,
        "own iterator": OwnIterator,
        "stateful_map": KeptMap,
        "stateful_map of batches": KeptMapOfBatches,
        "stateful_iterable": StatefulStream,
        "stateful stream": KeptStream,
        "stateful own iterator": KeptOwnIterator,
        "iterator state": IteratorState,
        "both states": BothStates,
    }[w.form](w, draw)


def collate(w, draw=None):
    """Return what makes a batch of a list of rows; None: torch's own function, of arrays."""
    if w.width > 1:
        return None
    if w.collated:
        return Collate(w, draw)
    if w.fails_in == "collate_fn":
        return w.collate
    return list if w.batch_size or w.gives_batches else alone


class Collate:
    """A user's function that draws numbers for each row, as one does that mixes samples."""

    def __init__(self, w, draw):
        self.w, self.draw = w, draw

    def __call__(self, rows):
        rows = rows if self.w.batch_size or self.w.gives_batches else [rows]
        return [[*row, *self.w.drawn(self.draw)] for row in rows]


def alone(row):
    """Collate a sample of a loader without automatic batching: a batch of one row."""
    return [row]


def set_up(number):
    """Draw numbers and divide the dataset, as a user's ``worker_init_fn`` does."""
    info = data.get_worker_info()
    info.dataset.w.begun = (*info.dataset.w.drawn(), info.seed)
    info.dataset.w.part = lane()


def sampler(w, x, dataset):
    """Return the sampler that the workload asks for."""
    if w.sampler == "distributed":
        return data.DistributedSampler(dataset, x.world, x.rank, w.shuffle, w.seed)
    own = torch.Generator().manual_seed(w.seed)
    if w.sampler == "random":
        return data.RandomSampler(dataset, generator=own)
    if w.sampler == "replacement":
        return data.RandomSampler(dataset, replacement=True, generator=own)
    if w.sampler == "subset":
        return data.SubsetRandomSampler(w.subset, own)
    if w.sampler == "weighted":
        return data.WeightedRandomSampler(w.weights, w.n, generator=own)
    return w.order()


def order(w, x, dataset, **tail):
    """Return a loader's arguments for the order of samples and batches; ``tail``: for the last."""
    if w.gives_batches:
        return {"batch_sampler": w.order()}
    size = {"batch_size": w.batch_size, **tail} if w.batch_size else {"batch_size": None}
    if w.sampler:
        return {"sampler": sampler(w, x, dataset), **size}
    return {"shuffle": w.shuffle, **size}


def order_of_rank(w, x, dataset):
    """Return what tells midepoch's loader the order, for its rank if ranks share the batches."""
    last_batch = "discard" if w.tail == "drop" else w.tail
    if not w.ranks:
        return order(w, x, dataset, last_batch=last_batch)
    return {
        "shuffle": w.shuffle,
        "last_batch": last_batch,
        "ranks": (x.rank, x.world),
        "global_batch_size": w.batch_size,
        "on_world_change": "recut" if w.ranks == "cut anew" else "refuse",
    }


def lifetime(w, x):
    """Return how long midepoch's copies of the dataset live.

    Streams that remember their passes live on where torch's do. Sticky ones cannot, nor can those
    that hear of an epoch. The copies that are set up are set up for each epoch.
    """
    if w.stream in ("sticky", "set") or (x.workers and (w.stream in SET_UP or not x.persistent)):
        return "epoch"
    return "run"


def reason_to_decline(w, x):
    """Return why a loader with torch's arguments has no such cell, or None if it has."""
    if w.shuffle and (w.n == 0 or w.kind not in ("map", "stateful_map")):
        return "shuffle=True needs a map-style dataset that is not empty"
    if x.workers == 0 and (x.persistent or x.prefetch is not None):
        return "persistent_workers and prefetch_factor need num_workers > 0"
    return None


class Epoch:
    """An epoch that tells the session of its end."""

    over = False

    def __init__(self, session):
        self.session, self.batches = session, iter(session.loader)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            if not self.over:
                self.session.next_epoch()
            self.over = True
            raise
        self.session.begun = True
        return batch


class EpochsFromOutside:
    """For a session whose user sets each epoch and keeps its number beside the loader's state.

    The session has the attributes ``w``, ``dataset`` and ``loader``.
    """

    number, begun = 0, False
    restores_epoch = False  # whether the loader sets the sampler's epoch when it loads a state

    def set_epoch(self):
        self.dataset.length = self.w.length(self.number)
        if self.w.sets_epoch and self.w.sampler:
            self.loader.sampler.set_epoch(self.number)

    def epoch(self):
        if self.begun:  # the caller broke out of the epoch before
            self.next_epoch()
        self.dataset.w.epoch = self.number
        return Epoch(self)

    def next_epoch(self):
        self.number, self.begun = self.number + 1, False
        self.set_epoch()

    def state(self):
        return {"epoch": self.number, "loader": super().state()}

    def load(self, state):
        self.dataset.length = self.w.length(state["epoch"])
        try:
            super().load(state["loader"])
        except BaseException:
            self.dataset.length = self.w.length(self.number)
            raise
        self.number, self.begun = state["epoch"], False
        if not self.restores_epoch:
            self.set_epoch()
