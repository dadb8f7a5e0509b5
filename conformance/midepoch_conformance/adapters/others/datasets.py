"""Reaches Hugging Face ``datasets`` streams under torchdata's loader, and under midepoch's.

As its guide of streaming does: an ``IterableDataset`` of more shards than workers, ``.shuffle``,
``.map`` to rows, and ``set_epoch`` if shuffled, whose number the user keeps beside the state. The
documentation says that a resume loses the samples of a shuffle buffer.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import datasets
from torchdata.stateful_dataloader import StatefulDataLoader

SHARDS = 30  # divided evenly by 1, 2, 3 and 5 workers


def numbers(shards):
    """Yield the numbers of the samples of shards."""
    for shard in shards:
        yield from ({"id": i} for i in shard)


class Row:
    """Makes a row of a number."""

    def __init__(self, w):
        self.w = w

    def __call__(self, sample):
        return {"row": self.w.row(int(sample["id"]))}


def rows_of(samples):
    """Collate samples to a batch of rows."""
    return [sample["row"] for sample in samples]


class Session:
    """One life of the loader, for a user who counts epochs."""

    number, begun = 0, False

    def __init__(self, w, x, make):
        shards = [range(i, w.n, SHARDS) for i in range(SHARDS)]
        made = datasets.IterableDataset.from_generator(numbers, gen_kwargs={"shards": shards})
        self.shuffle = w.shuffle
        if self.shuffle:
            made = made.shuffle(seed=w.seed, buffer_size=8)
        self.stream = made.map(Row(w), remove_columns=["id"])
        self.loader = make(
            self.stream,
            batch_size=w.batch_size,
            drop_last=w.tail == "drop",
            collate_fn=rows_of,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            snapshot_every_n_steps=x.interval,
        )

    def epoch(self):
        self.number += self.begun
        self.begun = True
        if self.shuffle:
            self.stream.set_epoch(self.number)
        yield from self.loader
        self.number, self.begun = self.number + 1, False

    def state(self):
        return {"epoch": self.number, "loader": self.loader.state_dict()}

    def load(self, state):
        self.loader.load_state_dict(state["loader"])
        self.number, self.begun = state["epoch"], False

    def close(self):
        del self.loader


class Adapter:
    """Offers streams with a state under torchdata's loader."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        kept = "the adapter reaches its streams, all of which have a state"
        return {
            "name": "datasets",
            "package": "datasets",
            "kinds": ("stateful_iterable",),
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("pickle", "torch"),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "live_load": "next",
            "extras": ("shuffled streams",),
            "reasons": {
                "live_load": "torchdata's documentation says that a load is for the next iterator",
                **dict.fromkeys(("map", "iterable", "stateful_map"), kept),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
            },
        }

    def declines(self, w, x):
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x, StatefulDataLoader)


class Ours(Adapter):
    """Offers the same under midepoch's loader."""

    def offer(self):
        return super().offer() | {"name": "datasets-midepoch", "live_load": "raises"}

    def open(self, w, x, root):
        # Imported here: the other row needs no midepoch in its environment.
        import midepoch

        return Session(w, x, midepoch.StatefulDataLoader)
