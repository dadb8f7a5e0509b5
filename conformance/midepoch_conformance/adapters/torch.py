"""Reaches PyTorch's own ``DataLoader``: it has no state, so only what needs none is judged."""

# The methods are those of the adapter protocol and documented there. Nothing is typed, since an
# adapter imports nothing of the suite and is pasted whole into the scripts of failures.
# ruff: noqa: D102
# mypy: disable-error-code="no-untyped-def, no-untyped-call, type-arg, var-annotated, arg-type"

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


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

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        info = get_worker_info()
        shard = range(self.w.n)[info.id :: info.num_workers] if info else range(self.w.n)
        return (self.w.row(i) for i in shard)


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        dataset = Map(w) if w.kind == "map" else Stream(w)
        self.loader = DataLoader(
            dataset,
            batch_size=w.batch_size,
            shuffle=w.shuffle,
            drop_last=w.tail == "drop",
            collate_fn=list,
            generator=torch.Generator().manual_seed(w.seed),
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        raise NotImplementedError("torch.utils.data.DataLoader has no state_dict")

    def load(self, state):
        raise NotImplementedError("torch.utils.data.DataLoader has no load_state_dict")

    def close(self):
        del self.loader


class Adapter:
    """Offers map-style and iterable datasets under any worker count, and no state."""

    def offer(self):
        return {
            "name": "torch",
            "package": "torch",
            "kinds": ("map", "iterable"),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("python", "numpy", "torch"),
            "saves": (),
            "codecs": (),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn"),
            "tails": ("keep", "drop"),
            "persistent": (False, True),
            "reasons": {
                "saves": "torch.utils.data.DataLoader has no state",
                "stateful_iterable": "it never asks a dataset for its state",
                "own": "it has no random source of its own for datasets: they draw from the "
                "global streams",
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
