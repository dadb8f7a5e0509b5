"""Reaches midepoch's loader under Accelerate, by the integration that its guide of trainers names.

``midepoch.integrations.accelerate.prepare`` takes the place of ``prepare_data_loader``, which would
build another loader. The state is the prepared loader's ``state_dict``, which ``save_state``
writes. Samples draw from the generators of ``batch_info()``, or from the global streams.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import torch
from accelerate import Accelerator

from midepoch import StatefulDataLoader, batch_info
from midepoch.integrations.accelerate import prepare
from midepoch_conformance.adapters import torch_data


def draw():
    """Draw a number from each generator of the documented source, added up."""
    info = batch_info()
    return float(torch.rand((), generator=info.torch)) + float(info.numpy.random())


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        dataset = torch_data.dataset_of(w, draw)
        loader = StatefulDataLoader(
            dataset,
            **torch_data.order_of_rank(w, x, dataset),
            seed=w.seed,
            collate_fn=torch_data.collate(w),
            lifetime="run" if x.persistent or not x.workers else "epoch",
            lanes=x.lanes,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            snapshot_every_n_steps=x.interval,
        )
        self.loader = prepare(Accelerator(cpu=True), loader)

    def epoch(self):
        return iter(self.loader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def close(self):
        del self.loader


class Adapter:
    """Offers torch's datasets of all kinds under any worker count."""

    def offer(self):
        kinds = ("map", "iterable", "stateful_iterable", "stateful_map")
        return {
            "name": "accelerate-midepoch",
            "package": "accelerate",
            "kinds": kinds,
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own", "python", "numpy", "torch"),
            "codecs": ("torch", "pickle"),
            "fixed_plan": kinds,
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop", "rollover"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "extras": ("streams", "trees", "iterator state", "arrays", *torch_data.RANKS),
            "reasons": {
                "json": "save_state writes the loader's state by torch.save",
                **dict.fromkeys(
                    ("dealt", "process group"), "several processes would have to train"
                ),
            },
        }

    def declines(self, w, x):
        return torch_data.reason_to_decline(w, x)

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
