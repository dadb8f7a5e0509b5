"""Reaches midepoch's own ``StatefulDataLoader``.

Its own source of random numbers is the generator of torch's that ``batch_info()`` gives to each
batch. Beside it the loader seeds the global streams before each batch, but in threads, which
share them.
"""

# The methods are those of the adapter protocol and documented there. Nothing is typed, since an
# adapter imports nothing of the suite and is pasted whole into the scripts of failures.
# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
# mypy: disable-error-code="misc, type-arg"

import torch
from torch.utils import data

from midepoch import StatefulDataLoader, batch_info


def draw():
    """Draw from the documented source."""
    return float(torch.rand((), generator=batch_info().torch))


class Map:
    """A map-style dataset; its user may change its length between two epochs."""

    def __init__(self, w):
        self.w, self.length = w, w.n

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.w.row(i, draw)


class Stream(data.IterableDataset):
    """An iterable dataset: each lane yields its share, by ``get_worker_info``."""

    position = 0

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        self.position = 0
        return self.rows()

    def rows(self):
        number, count = lane()
        shard = range(self.w.n)[number::count]
        while self.position < len(shard):
            self.position += 1
            yield self.w.row(shard[self.position - 1], draw)


class StatefulStream(Stream):
    """The same with a state of its own; an iteration after a load goes on from there, once."""

    loaded = None

    def __iter__(self):
        rows = super().__iter__()
        self.position, self.loaded = self.loaded or 0, None
        return rows

    def state_dict(self):
        return self.w.dataset_state(self.position if self.loaded is None else self.loaded)

    def load_state_dict(self, state):
        self.loaded = self.w.dataset_position(state)


def lane():
    """Return the number of this lane, and how many there are."""
    info = data.get_worker_info()
    return (info.id, info.num_workers) if info else (0, 1)


class Made(data.IterableDataset):
    """An iterable dataset whose rows a source makes, anew in each pass."""

    made = None

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        return self.w.stream_of(*lane(), draw)


def source(dataset):
    """Return the source of a dataset that has one for all passes; it is made where it is used."""
    if dataset.made is None:
        dataset.made = dataset.w.source(*lane(), draw)
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
    """A map-style dataset with a state, whose rows show what it fetched before."""

    def __getitem__(self, i):
        return source(self)[i]


class KeptStream(Kept, Made):
    """A Stateful iterable."""

    def __iter__(self):
        self.w.note("iter")
        return iter(source(self))


class KeptOwnIterator(Kept, OwnIterator):
    """A Stateful iterable that is its own iterator."""


class IteratorState(Made):
    """An iterable dataset whose state is its iterator's."""

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*lane(), draw)


class BothStates(Made):
    """The same with a state of the dataset's too: how many rows it ever gave."""

    count = 0

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*lane(), draw, self)

    def state_dict(self):
        return {"count": self.count}

    def load_state_dict(self, state):
        self.count = state["count"]


def dataset_of(w):
    """Return the dataset of the workload's form."""
    return {
        "map": Map,
        "iterable": Stream,
        "stream": Made,
        "own iterator": OwnIterator,
        "stateful_map": KeptMap,
        "stateful_iterable": StatefulStream,
        "stateful stream": KeptStream,
        "stateful own iterator": KeptOwnIterator,
        "iterator state": IteratorState,
        "both states": BothStates,
    }[w.form](w)


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


def order(w, x, dataset):
    """Return the loader's arguments for the order of the samples and their batches."""
    if w.sampler == "batches":
        return {"batch_sampler": w.order()}
    size = {"batch_size": w.batch_size, "last_batch": TAILS[w.tail]}
    if w.sampler:
        return {"sampler": sampler(w, x, dataset), **size}
    return {"shuffle": w.shuffle, **size}


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, dataset_of(w)
        processes = x.workers and x.worker_kind == "process"
        self.loader = StatefulDataLoader(
            self.dataset,
            **order(w, x, self.dataset),
            collate_fn=list if w.width == 1 else None,
            seed=w.seed,
            lanes=x.lanes,
            num_workers=x.workers,
            worker_type=x.worker_kind,
            worker_restarts=x.restarts,
            in_order=x.in_order,
            multiprocessing_context=x.start_method if processes else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            snapshot_every_n_steps=x.interval,
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def close(self):
        del self.loader


class Epoch:
    """An epoch that tells the session of its end."""

    def __init__(self, session):
        self.session, self.batches = session, iter(session.loader)

    def __iter__(self):
        return self

    def __next__(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            self.session.next_epoch()
            raise
        self.session.begun = True
        return batch


class EpochSession(Session):
    """The same for a user who sets each epoch, and keeps its number beside the loader's state."""

    number, begun = 0, False

    def set_epoch(self):
        self.dataset.length = self.w.length(self.number)
        if self.w.sampler == "distributed":
            self.loader.sampler.set_epoch(self.number)

    def epoch(self):
        if self.begun:  # the epoch before was broken off
            self.next_epoch()
        return Epoch(self)

    def next_epoch(self):
        self.number, self.begun = self.number + 1, False
        self.set_epoch()

    def state(self):
        return {"epoch": self.number, "loader": super().state()}

    def load(self, state):
        self.number, self.begun = state["epoch"], False
        self.set_epoch()
        super().load(state["loader"])


class Adapter:
    """Offers map-style and iterable datasets of all kinds under any worker count."""

    def offer(self):
        kinds = ("map", "iterable", "stateful_iterable", "stateful_map")
        return {
            "name": "reference",
            "package": "midepoch",
            "kinds": kinds,
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own", *AMBIENT, *(f"private {name}" for name in AMBIENT)),
            "codecs": ("pickle", "torch", "json"),
            "fixed_plan": kinds,
            "start_methods": ("fork", "spawn"),
            "worker_kinds": ("process", "thread"),
            "orders": (True, False),
            "tails": ("keep", "drop", "rollover"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "formats": ("midepoch",),
            "live_load": "raises",
            "extras": EXTRAS,
            "reasons": {"files": "it reads no shards: a dataset of the user's does"},
        }

    def declines(self, w, x):
        if x.workers and x.worker_kind == "thread" and set(w.draws) & set(AMBIENT):
            return "threads share the global streams: only batch_info() is seeded in them"
        if w.shuffle and (w.n == 0 or w.kind not in ("map", "stateful_map")):
            return "shuffle=True needs a map-style dataset that is not empty"
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        if w.grow or w.sampler == "distributed":
            return EpochSession(w, x)
        return Session(w, x)


AMBIENT = ("python", "numpy", "torch")
EXTRAS = (
    *("streams", "trees", "iterator state", "samplers", "set_epoch", "growing", "arrays", "world"),
    *("restarts", "unordered states"),
)
TAILS = {"keep": "keep", "drop": "discard", "rollover": "rollover"}
