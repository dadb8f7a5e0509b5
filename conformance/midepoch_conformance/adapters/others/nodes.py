"""Reaches ``torchdata.nodes`` by the pipeline of its migration guide.

A sampler, ``Batcher``, ``ParallelMapper`` and ``Prefetcher`` stand under a ``Loader``, which has
the state. Streams enter by ``IterableWrapper``. ``DistributedSampler`` shuffles anew in each epoch:
``SamplerWrapper`` sets it by itself. The guide gives ``Prefetcher`` no size for 0 workers, so there
is none there. ``snapshot_frequency`` is the interval of both nodes.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import torch
import torchdata.nodes as tn
from torch.utils import data

from midepoch_conformance.adapters import torch_data


class MapAndCollate:
    """Makes a batch of a list of indices, as the guide's class of this name does."""

    def __init__(self, w, dataset):
        self.w, self.dataset = w, dataset

    def __call__(self, indices):
        rows = [self.dataset[i] for i in indices]
        return data.default_collate(rows) if self.w.width > 1 else rows


def indices(w, x, dataset):
    """Return a sampler's node."""
    if w.sampler:
        return tn.SamplerWrapper(torch_data.sampler(w, x, dataset))
    if w.shuffle:
        seeded = torch.Generator().manual_seed(w.seed)
        return tn.SamplerWrapper(data.RandomSampler(dataset, generator=seeded))
    return tn.SamplerWrapper(data.SequentialSampler(dataset))


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        dataset = torch_data.dataset_of(w)
        if w.kind == "map":
            node, made = indices(w, x, dataset), MapAndCollate(w, dataset)
        else:
            node, made = tn.IterableWrapper(dataset), torch_data.collate(w) or data.default_collate
        if not w.gives_batches:
            node = tn.Batcher(node, w.batch_size, drop_last=w.tail == "drop")
        node = tn.ParallelMapper(
            node,
            made,
            num_workers=x.workers,
            in_order=x.in_order,
            method=x.worker_kind,
            multiprocessing_context=x.start_method if x.worker_kind == "process" else None,
            snapshot_frequency=x.interval,
        )
        if x.workers:
            node = tn.Prefetcher(node, x.prefetch or 2 * x.workers, snapshot_frequency=x.interval)
        self.loader = tn.Loader(node)

    def epoch(self):
        return iter(self.loader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def close(self):
        del self.loader


class Adapter:
    """Offers map-style and iterable datasets, whose samples workers collate."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        kinds = ("map", "iterable", "stateful_iterable")
        return {
            "name": "nodes",
            "package": "torchdata",
            "kinds": kinds,
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("pickle", "torch"),
            "fixed_plan": kinds,
            "start_methods": ("fork", "spawn", "forkserver"),
            "worker_kinds": ("process", "thread"),
            "orders": (True, False),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "live_load": "next",
            "extras": ("streams", "trees", "samplers", "set_epoch", "arrays", "world"),
            "reasons": {
                "stateful_map": "no node asks a map-style dataset for its state",
                "python": quiet,
                "numpy": quiet,
                "torch": quiet,
                "own": quiet,
                "json": "its documentation names no JSON",
                "persistent": "its workers end with an epoch",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "rollover": "it keeps or drops an incomplete batch",
                "live_load": "load_state_dict is for the next iter(), as its docstring says",
            },
        }

    def declines(self, w, x):
        if w.shuffle and (w.n == 0 or w.kind != "map"):
            return "RandomSampler needs a map-style dataset that is not empty"
        if x.workers == 0 and x.prefetch is not None:
            return "the guide prefetches with workers only"
        if w.die_at is not None and w.kind != "map":
            return "the loader's own process reads streams, and no worker"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
