"""Reaches torchdata's ``StatefulDataLoader``, by the means that its documentation names.

Shuffling is ``shuffle=True`` with a seeded ``generator``. Iterable datasets are sharded by
``get_worker_info``. The loader has no method to close it, so it is dropped.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import inspect

import torch
from torchdata.stateful_dataloader import StatefulDataLoader

from midepoch_conformance.adapters import torch_data


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, torch_data.dataset_of(w)
        self.loader = StatefulDataLoader(
            self.dataset,
            **torch_data.order(w, x, self.dataset, drop_last=w.tail == "drop"),
            collate_fn=torch_data.collate(w),
            worker_init_fn=torch_data.set_up if w.stream == "divided" else None,
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


class EpochSession(torch_data.EpochsFromOutside, Session):
    """One life of the loader, for a user who sets each epoch."""


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
            "start_methods": ("fork", "spawn", "forkserver"),
            "orders": (True, False) if HAS_ORDERS else (True,),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "extras": EXTRAS,
            "live_load": "next",
            "reasons": {
                "live_load": "its documentation says that a load is for the next iterator",
                "orders": "this version of torchdata has no argument in_order",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "thread": "its workers are processes",
                "rollover": "it keeps or drops an incomplete batch",
                "own": "it has no random source of its own for datasets: they draw from the "
                "global streams",
                "json": "its documentation names no JSON; a shuffled state holds a tensor",
            },
        }

    def declines(self, w, x):
        return torch_data.reason_to_decline(w, x)

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        if w.grow or w.sets_epoch:
            return EpochSession(w, x)
        return Session(w, x)


AMBIENT = ("python", "numpy", "torch")
EXTRAS = (
    *("streams", "trees", "iterator state", "samplers", "set_epoch", "growing", "arrays"),
    "payloads",
    *("set streams", "collating", "failing collate", "getitems", "beside", "asked again"),
    "many workers",
    *("unbatched", "set up", "world", "unordered states"),
)
HAS_ORDERS = "in_order" in inspect.signature(StatefulDataLoader).parameters
