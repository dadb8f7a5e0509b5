"""Reaches SPDL's ``DataLoader``: a control without a state, so nothing can be resumed.

As its documentation does: a sampler is the source, the preprocessor makes a row of a number in a
thread, and the aggregator makes a batch. ``DistributedRandomSampler`` shuffles, with ``shuffle``
called before each epoch. ``output_order="input"`` keeps the order of the source. The loader always
has threads, so no workers are one thread.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

from spdl.dataloader import DataLoader
from spdl.source import DistributedDeterministicSampler, DistributedRandomSampler


class Row:
    """Makes a row of a number."""

    def __init__(self, w):
        self.w = w

    def __call__(self, number):
        return self.w.row(int(number))


def as_batch(rows):
    """Make a batch of rows: a function, because SPDL takes ``list`` for a collection to index."""
    return rows


class Session:
    """One life of the loader."""

    number = 0

    def __init__(self, w, x):
        self.w = w
        kind = DistributedRandomSampler if w.shuffle else DistributedDeterministicSampler
        self.sampler = kind(w.n, rank=0, world_size=1)
        self.loader = DataLoader(
            self.sampler,
            preprocessor=Row(w),
            batch_size=w.batch_size,
            drop_last=w.tail == "drop",
            aggregator=as_batch,
            buffer_size=3 if x.prefetch is None else x.prefetch,
            num_threads=max(1, x.workers),
            output_order="input" if x.in_order else "completion",
        )

    def epoch(self):
        if self.w.shuffle:
            self.sampler.shuffle(seed=self.w.seed + self.number)
        self.number += 1
        return iter(self.loader)

    def state(self):
        raise NotImplementedError("SPDL's DataLoader has no state_dict")

    def load(self, state):
        raise NotImplementedError("SPDL's DataLoader has no load_state_dict")

    def close(self):
        del self.loader


class Adapter:
    """Offers random access by threads, and no state."""

    def offer(self):
        foreign = "the adapter reaches a sampler and a function of its numbers"
        quiet = "its documentation names no random draws of samples"
        return {
            "name": "spdl",
            "package": "spdl",
            "workers": (0, 1, 2, 3, 5),
            "kinds": ("map",),
            "saves": (),
            "codecs": (),
            "fixed_plan": ("map",),
            "worker_kinds": ("thread",),
            "orders": (True, False),
            "tails": ("keep", "drop"),
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), foreign),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "saves": "SPDL's DataLoader has no state: nothing can be resumed",
                "process": "the workers of this loader are threads",
                "persistent": "its threads end with an epoch",
                "restarts": "it has no means to replace a thread",
                "rollover": "it keeps or drops an incomplete batch",
            },
        }

    def declines(self, w, x):
        if w.n == 0:
            return "its samplers need a length of at least 1"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
