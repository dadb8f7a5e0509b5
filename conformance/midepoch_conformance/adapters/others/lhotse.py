"""Reaches Lhotse's cut samplers in torchdata's ``StatefulDataLoader``.

As its guide of datasets does, the dataset makes a batch of a set of cuts, the loader has
``batch_size=None``, and ``set_epoch`` comes before each epoch, whose number the user keeps beside
the state. ``max_cuts`` is the size of a batch. The loader saves the sampler's state without the
batches that workers fetched ahead. ``lhotse-dynamic`` has the sampler for lazily read cuts.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import os

import lhotse
from lhotse.dataset import DynamicCutSampler, SimpleCutSampler
from torch.utils import data
from torchdata.stateful_dataloader import StatefulDataLoader


class Batches(data.Dataset):
    """Makes the rows of a set of cuts."""

    def __init__(self, w):
        self.w = w

    def __getitem__(self, cuts):
        return [self.w.row(int(cut.id)) for cut in cuts]


def cuts_of(w):
    """Return a workload's cuts, each of a second."""
    return lhotse.CutSet.from_cuts(lhotse.MonoCut(str(i), 0, 1, 0) for i in range(w.n))


def file_of(w, root):
    """Return the name of the file of a workload's cuts."""
    return os.path.join(root, f"lhotse-{w.n}.jsonl")


class Session:
    """One life of the loader, for a user who counts epochs."""

    number, begun = 0, False

    def __init__(self, w, x, cuts, sampler):
        tail = {"drop_last": w.tail == "drop"}
        self.sampler = sampler(cuts, max_cuts=w.batch_size, shuffle=w.shuffle, seed=w.seed, **tail)
        self.loader = StatefulDataLoader(
            Batches(w),
            batch_size=None,
            sampler=self.sampler,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            snapshot_every_n_steps=x.interval,
        )

    def epoch(self):
        self.number += self.begun  # the caller broke out of the epoch before
        self.begun = True
        self.sampler.set_epoch(self.number)
        return self.counted(iter(self.loader))

    def counted(self, batches):
        yield from batches
        self.number, self.begun = self.number + 1, False

    def state(self):
        return {"epoch": self.number, "loader": self.loader.state_dict()}

    def load(self, state):
        self.loader.load_state_dict(state["loader"])
        self.number, self.begun = state["epoch"], False

    def close(self):
        del self.loader, self.sampler


class Adapter:
    """Offers sets of cuts with the eager sampler."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        cuts = "its samplers choose among cuts, each of which is found by itself"
        return {
            "name": "lhotse",
            "package": "lhotse",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("torch", "pickle"),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "live_load": "next",
            "reasons": {
                "live_load": "torchdata's documentation says that a load is for the next iterator",
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), cuts),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "json": "the guide saves its states by torch.save",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "rollover": "it keeps or drops an incomplete batch",
            },
        }

    def declines(self, w, x):
        needs = "persistent_workers and prefetch_factor need num_workers > 0"
        return needs if not x.workers and (x.persistent or x.prefetch is not None) else None

    def prepare(self, w, root): ...

    def open(self, w, x, root):
        return Session(w, x, cuts_of(w), SimpleCutSampler)


class Dynamic(Adapter):
    """Offers the same with the sampler for lazy cuts."""

    def offer(self):
        return super().offer() | {"name": "lhotse-dynamic"}

    def prepare(self, w, root):
        cuts_of(w).to_file(file_of(w, root))

    def open(self, w, x, root):
        return Session(w, x, lhotse.CutSet.from_jsonl_lazy(file_of(w, root)), DynamicCutSampler)
