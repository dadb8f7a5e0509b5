"""Reaches torchdata's ``StatefulDataLoader`` in a Lightning ``Trainer`` that stops and resumes.

The trainer fits a model of one weight, and its checkpoints hold the loader's state, as its guide
of stateful loaders says. After a step and an epoch, where ``ModelCheckpoint``
saves, the model hands the batch over and waits, so the fit has a thread. The state is the file of
``save_checkpoint``.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102
# mypy: ignore-errors

import pathlib
import queue
import tempfile
import threading

import torch
from lightning.pytorch import LightningModule, Trainer
from torchdata.stateful_dataloader import StatefulDataLoader

from midepoch_conformance.adapters import torch_data


class Model(LightningModule):
    """A model of one weight, which hands each batch over after its step."""

    def __init__(self, session):
        super().__init__()
        self.weight, self.session = torch.nn.Parameter(torch.zeros(())), session

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, number):
        return self.weight * 1

    def on_train_batch_end(self, outputs, batch, number):
        self.session.hand_over(batch)

    def on_train_epoch_end(self):
        self.session.hand_over(None)


class Session:
    """One life of a trainer and its loader."""

    def __init__(self, w, x):
        self.thread = threading.Thread(target=self.fit, daemon=True)
        self.given, self.asked = queue.Queue(), queue.Queue()
        self.saved = pathlib.Path(tempfile.mkdtemp(), "saved.ckpt")
        quiet = dict.fromkeys(("enable_checkpointing", "enable_progress_bar", "logger"), False)
        self.trainer = Trainer(accelerator="cpu", max_epochs=-1, **quiet)
        dataset, generator = torch_data.dataset_of(w), torch.Generator().manual_seed(w.seed)
        told = {"num_workers": x.workers, "persistent_workers": x.persistent}
        told |= {"prefetch_factor": x.prefetch, "snapshot_every_n_steps": x.interval}
        told |= {"multiprocessing_context": x.start_method if x.workers else None}
        told |= {"collate_fn": torch_data.collate(w), "generator": generator}
        told |= torch_data.order(w, x, dataset, drop_last=w.tail == "drop")
        self.loader = StatefulDataLoader(dataset, **told)

    def fit(self):
        try:
            saved = self.saved if self.saved.exists() else None
            self.trainer.fit(Model(self), self.loader, ckpt_path=saved)
        except BaseException as error:
            self.given.put(error)

    def hand_over(self, batch):
        if not self.trainer.should_stop:
            self.given.put(batch)
            self.asked.get()

    def epoch(self):
        self.asked.put("the epoch") if self.thread.ident else self.thread.start()
        while (batch := self.given.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
            self.asked.put("the next batch")

    def state(self):
        if self.thread.ident:
            self.trainer.save_checkpoint(self.saved)
        return self.saved.read_bytes()

    def load(self, state):
        self.saved.write_bytes(state)

    def close(self):
        self.trainer.should_stop = True
        self.asked.put("the end")
        if self.thread.ident:
            self.thread.join()


class Adapter:
    """Offers torch's datasets of all kinds under any worker count."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        return {
            "name": "lightning",
            "package": "lightning",
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "workers": (0, 1, 2, 3, 5),
            "boundary": "stream",
            "saves": ("mid", "end"),
            "codecs": ("bytes",),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "live_load": "next",
            "extras": ("streams", "trees", "iterator state", "arrays"),
            "reasons": {
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "live_load": "a checkpoint is loaded when a fit begins",
            },
        }

    declines = staticmethod(torch_data.reason_to_decline)

    def prepare(self, w, root): ...

    def open(self, w, x, root):
        return Session(w, x)
