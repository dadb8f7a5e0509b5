"""Reaches torchdata's ``StatefulDataLoader``, by the means that its documentation names.

Shuffling is ``shuffle=True`` with a seeded ``generator``, iterable datasets are sharded by
``get_worker_info``, and a loader has no method to close it: it is dropped.
"""

# The methods are those of the adapter protocol and documented there. Nothing is typed, since an
# adapter imports nothing of the suite and is pasted whole into the scripts of failures.
# ruff: noqa: D102
# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg"

import torch
from torch.utils.data import IterableDataset, get_worker_info
from torchdata.stateful_dataloader import StatefulDataLoader


class Map:
    """A map-style dataset."""

    def __init__(self, w):
        self.w = w

    def __len__(self):
        return self.w.n

    def __getitem__(self, i):
        return self.w.row(i)


class Stream(IterableDataset):
    """An iterable dataset: each worker yields every ``num_workers``-th sample."""

    position = 0

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        self.position = 0
        return self.rows()

    def rows(self):
        info = get_worker_info()
        shard = range(self.w.n)[info.id :: info.num_workers] if info else range(self.w.n)
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


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        dataset = {"map": Map, "iterable": Stream, "stateful_iterable": StatefulStream}[w.kind]
        self.loader = StatefulDataLoader(
            dataset(w),
            batch_size=w.batch_size,
            shuffle=w.shuffle,
            drop_last=w.tail == "drop",
            collate_fn=list,
            generator=torch.Generator().manual_seed(w.seed),
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
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


class Adapter:
    """Offers map-style, iterable and Stateful iterable datasets under any worker count."""

    def offer(self):
        return {
            "name": "torchdata",
            "package": "torchdata",
            "kinds": ("map", "iterable", "stateful_iterable"),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("python", "numpy", "torch"),
            "codecs": ("pickle", "torch"),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn"),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "reasons": {
                "own": "it has no random source of its own for datasets: they draw from the "
                "global streams",
                "json": "its documentation names no JSON; a shuffled state holds a tensor",
                "files": "it reads no shards: a dataset of the user's does",
            },
        }

    def declines(self, w, x):
        if w.shuffle and (w.n == 0 or w.kind != "map"):
            return "shuffle=True needs a map-style dataset that is not empty"
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
