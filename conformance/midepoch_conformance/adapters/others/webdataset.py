"""Reaches WebDataset in its ``WebLoader``: a control without a state, so nothing can be resumed.

As its README does: ``WebDataset`` reads tar files, ``map`` makes rows, ``batched`` makes batches in
the workers, and ``WebLoader`` gets ``batch_size=None``. ``prepare`` writes more shards than there
are workers, by ``TarWriter``, and ``empty_check`` is off for a worker whose shards are empty.
Shuffling is that of the shards with ``detshuffle``, which ``seed`` and the epoch determine.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import os

import webdataset

SHARDS = 30  # divided evenly by 1, 2, 3 and 5 workers


def shards_of(w, root):
    """Return the names of a workload's shards."""
    return [os.path.join(root, f"webdataset-{w.n}-{i:02}.tar") for i in range(SHARDS)]


class Row:
    """Makes a row of the number that a shard has."""

    def __init__(self, w):
        self.w = w

    def __call__(self, sample):
        return self.w.row(int(sample["txt"]))


class Session:
    """One life of the loader."""

    def __init__(self, w, x, root):
        dataset = webdataset.WebDataset(
            shards_of(w, root),
            shardshuffle=SHARDS if w.shuffle else False,
            detshuffle=w.shuffle,
            seed=w.seed,
            empty_check=False,
        )
        batches = dataset.map(Row(w)).batched(w.batch_size, list, partial=w.tail == "keep")
        self.loader = webdataset.WebLoader(
            batches,
            batch_size=None,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        raise NotImplementedError("WebDataset has no state_dict")

    def load(self, state):
        raise NotImplementedError("WebDataset has no load_state_dict")

    def close(self):
        del self.loader


class Adapter:
    """Offers streams of shards, and no state."""

    def offer(self):
        shards = "it streams shards, and asks no dataset for a state"
        quiet = "its documentation names no random draws of samples"
        return {
            "name": "webdataset",
            "package": "webdataset",
            "kinds": ("iterable",),
            "workers": (0, 1, 2, 3, 5),
            "saves": (),
            "codecs": (),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "persistent": (False, True),
            "reasons": {
                **dict.fromkeys(("map", "stateful_iterable", "stateful_map"), shards),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "saves": "WebDataset has no state: nothing can be resumed",
                "fixed_plan": "each worker reads its own shards",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "rollover": "it keeps or drops an incomplete batch",
            },
        }

    def declines(self, w, x):
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        for number, name in enumerate(shards_of(w, root)):
            with webdataset.TarWriter(name) as shard:
                for i in range(number, w.n, SHARDS):
                    shard.write({"__key__": f"{i:06}", "txt": str(i)})

    def open(self, w, x, root):
        return Session(w, x, root)
