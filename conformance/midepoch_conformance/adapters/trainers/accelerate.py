"""Reaches a loader that Accelerate prepared over torchdata's ``StatefulDataLoader``.

``use_stateful_dataloader`` is Accelerate's means of resuming within an epoch, and the state is the
prepared loader's ``state_dict``, which ``save_state`` writes. The loader that is prepared is
torchdata's own with a seeded ``generator``, because torchdata's sampler saves the generator in its
state, and torch's does not. ``use_seedable_sampler`` is off: it replaces the sampler after
workers began to fetch the first epoch, which is then not seeded. ``dispatch_batches``, the default
for streams, needs batches of tensors, and these are lists of rows: so it is off.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torchdata.stateful_dataloader import StatefulDataLoader

from midepoch_conformance.adapters import torch_data


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        dataset = torch_data.dataset_of(w)
        loader = StatefulDataLoader(
            dataset,
            **torch_data.order(w, x, dataset, drop_last=w.tail == "drop"),
            generator=torch.Generator().manual_seed(w.seed),
            collate_fn=torch_data.collate(w),
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
        )
        configured = DataLoaderConfiguration(dispatch_batches=False, use_stateful_dataloader=True)
        accelerator = Accelerator(cpu=True, dataloader_config=configured)
        self.loader = accelerator.prepare_data_loader(loader)

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
        quiet = "its documentation names no random draws of samples"
        return {
            "name": "accelerate",
            "package": "accelerate",
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("torch", "pickle"),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "persistent": (False, True),
            "extras": ("streams", "trees", "iterator state", "arrays"),
            "live_load": "next",
            "reasons": {
                "live_load": "torchdata's documentation says that a load is for the next iterator",
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "json": "save_state writes the loader's state by torch.save",
                "intervals": "the loader that it prepares anew gets no snapshot_every_n_steps",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "rollover": "it keeps or drops an incomplete batch",
            },
        }

    def declines(self, w, x):
        return torch_data.reason_to_decline(w, x)

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
