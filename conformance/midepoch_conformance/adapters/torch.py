"""Reaches PyTorch's own ``DataLoader``: without a state, so no requirement of states is judged."""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import inspect

import torch
from torch.utils import data

from midepoch_conformance.adapters import torch_data


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, torch_data.dataset_of(w)
        self.loader = data.DataLoader(
            self.dataset,
            **torch_data.order(w, x, self.dataset, drop_last=w.tail == "drop"),
            collate_fn=torch_data.collate(w),
            generator=torch.Generator().manual_seed(w.seed),
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            **({} if x.in_order else {"in_order": False}),
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        raise NotImplementedError("torch.utils.data.DataLoader has no state_dict")

    def load(self, state):
        raise NotImplementedError("torch.utils.data.DataLoader has no load_state_dict")

    def close(self):
        del self.loader


class EpochSession(torch_data.EpochsFromOutside, Session):
    """One life of the loader, for a user who sets each epoch."""


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
            "start_methods": ("fork", "spawn", "forkserver"),
            "orders": (True, False) if HAS_ORDERS else (True,),
            "tails": ("keep", "drop"),
            "persistent": (False, True),
            "extras": (
                *("streams", "samplers", "set_epoch", "growing", "arrays", "payloads"),
                *("unbatched", "world", "many workers"),
            ),
            "reasons": {
                "orders": "this version of torch has no argument in_order",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "thread": "its workers are processes",
                "rollover": "it keeps or drops an incomplete batch",
                "saves": "torch.utils.data.DataLoader has no state",
                "stateful_iterable": "it never asks a dataset for its state",
                "stateful_map": "it never asks a dataset for its state",
                "own": "it has no random source of its own for datasets: they draw from the "
                "global streams",
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


HAS_ORDERS = "in_order" in inspect.signature(data.DataLoader).parameters
