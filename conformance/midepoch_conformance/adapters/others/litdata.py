"""Reaches LitData's ``StreamingDataset`` in its ``StreamingDataLoader``, as its README does.

``prepare`` writes chunks by ``Cache``, as LitData's tests do: ``optimize`` starts processes for the
same. Chunks of four samples leave some to each worker. ``transform`` makes the rows, and
``shuffle`` and ``seed`` are the dataset's. The README asks for the same of both at a resume, and
lets the number of workers change: the loader then deals the rest of the samples anew. Its
``drop_last`` makes workers' shares equal, and drops no incomplete batch.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import os

import litdata
from litdata.streaming import Cache


def folder_of(w, root):
    """Return the folder of a workload's chunks."""
    return os.path.join(root, f"litdata-{w.n}")


class Row:
    """Makes a row of the number that a chunk has."""

    def __init__(self, w):
        self.w = w

    def __call__(self, number):
        return self.w.row(int(number))


class Session:
    """One life of the loader."""

    def __init__(self, w, x, root):
        dataset = litdata.StreamingDataset(
            folder_of(w, root), shuffle=w.shuffle, seed=w.seed, transform=Row(w)
        )
        self.loader = litdata.StreamingDataLoader(
            dataset,
            batch_size=w.batch_size,
            collate_fn=list,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
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
    """Offers shuffled and ordered epochs of chunks under any worker count."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        chunks = "its datasets read chunks, and find any sample by its number"
        return {
            "name": "litdata",
            "package": "litdata",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("torch", "pickle"),
            "start_methods": ("fork", "spawn", "forkserver"),
            "persistent": (False, True),
            "live_load": "next",
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), chunks),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "fixed_plan": "each worker makes batches of its own chunks; if their number "
                "changes, the README promises that no sample comes twice, and no order",
                "json": "the README saves its states by torch.save",
                "drop": "drop_last makes the workers' shares equal, and drops no batch",
                "rollover": "it keeps an incomplete batch",
                "intervals": "it has no snapshot interval",
                "restarts": "it has no means to replace a worker",
                "live_load": "the dataset takes a loaded state when it is iterated next",
            },
        }

    def declines(self, w, x):
        if w.n == 0:
            return "it writes no dataset without samples"
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        if w.n == 0:
            return
        cache = Cache(input_dir=folder_of(w, root), chunk_size=4)
        for i in range(w.n):
            cache[i] = i
        cache.done()
        cache.merge()

    def open(self, w, x, root):
        return Session(w, x, root)
