"""Reaches torchdata's ``StatefulDataLoader``, by the means that its documentation names.

Shuffling is ``shuffle=True`` with a seeded ``generator``, iterable datasets are sharded by
``get_worker_info``, and a loader has no method to close it: it is dropped.
"""

# The methods are those of the adapter protocol and documented there. Nothing is typed, since an
# adapter imports nothing of the suite and is pasted whole into the scripts of failures.
# ruff: noqa: D102
# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs
# mypy: disable-error-code="misc, type-arg"

import inspect

import torch
from torch.utils import data
from torchdata.stateful_dataloader import StatefulDataLoader


class Map:
    """A map-style dataset; its user may change its length between two epochs."""

    def __init__(self, w):
        self.w, self.length = w, w.n

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.w.row(i)


class Stream(data.IterableDataset):
    """An iterable dataset: each worker yields its share, by ``get_worker_info``."""

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
            yield self.w.row(shard[self.position - 1])


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
    """Return the number of this worker, and how many there are."""
    info = data.get_worker_info()
    return (info.id, info.num_workers) if info else (0, 1)


class Made(data.IterableDataset):
    """An iterable dataset whose rows a source makes, anew in each pass."""

    made = None

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        return self.w.stream_of(*lane())


def source(dataset):
    """Return the source of a dataset that has one for all passes; it is made where it is used."""
    if dataset.made is None:
        dataset.made = dataset.w.source(*lane())
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
        return self.w.iterator(*lane())


class BothStates(Made):
    """The same with a state of the dataset's too: how many rows it ever gave."""

    count = 0

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*lane(), dataset=self)

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
    size = {"batch_size": w.batch_size, "drop_last": w.tail == "drop"}
    if w.sampler:
        return {"sampler": sampler(w, x, dataset), **size}
    return {"shuffle": w.shuffle, **size}


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, dataset_of(w)
        self.loader = StatefulDataLoader(
            self.dataset,
            **order(w, x, self.dataset),
            collate_fn=list if w.width == 1 else None,
            generator=torch.Generator().manual_seed(w.seed),
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            snapshot_every_n_steps=x.interval,
            **({} if x.in_order else {"in_order": False}),
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
        return {
            "name": "torchdata",
            "package": "torchdata",
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "workers": (0, 1, 2, 3, 5),
            "draws": (*AMBIENT, *(f"private {name}" for name in AMBIENT)),
            "codecs": ("pickle", "torch"),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn"),
            "orders": (True, False) if HAS_ORDERS else (True,),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "extras": EXTRAS,
            "reasons": {
                "orders": "this version of torchdata has no argument in_order",
                "unordered states": "its documentation gives no guarantees for states with "
                "in_order=False",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "thread": "its workers are processes",
                "rollover": "it keeps or drops an incomplete batch",
                "own": "it has no random source of its own for datasets: they draw from the "
                "global streams",
                "json": "its documentation names no JSON; a shuffled state holds a tensor",
                "files": "it reads no shards: a dataset of the user's does",
            },
        }

    def declines(self, w, x):
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
EXTRAS = "streams", "trees", "iterator state", "samplers", "set_epoch", "growing", "arrays", "world"
HAS_ORDERS = "in_order" in inspect.signature(StatefulDataLoader).parameters
