"""Reaches midepoch's loader in a Lightning ``Trainer`` that stops and resumes.

The trainer has the callback of ``midepoch.integrations.lightning``. After a step and an epoch,
where ``ModelCheckpoint`` saves, the model hands the batch over and waits: so the fit has a thread.
A new fit begins after a load, and after an epoch that was broken off. The state is a file.
"""

# ruff: noqa: D102

import pathlib
import queue
import tempfile
import threading

import torch
from lightning.pytorch import LightningModule, Trainer

from midepoch import StatefulDataLoader
from midepoch.integrations.lightning import LoaderCheckpoint
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
        self.thread, self.loaded, self.between = None, None, False
        quiet = dict.fromkeys(("enable_checkpointing", "enable_progress_bar", "logger"), False)
        quiet |= {"accelerator": "cpu", "callbacks": LoaderCheckpoint()}
        self.trainer, dataset = Trainer(max_epochs=-1, **quiet), torch_data.dataset_of(w)
        told = torch_data.order_of_rank(w, x, dataset) | {"seed": w.seed}
        told |= {"lanes": x.lanes, "num_workers": x.workers, "persistent_workers": x.persistent}
        told |= {"prefetch_factor": x.prefetch, "snapshot_every_n_steps": x.interval}
        told |= {"multiprocessing_context": x.start_method if x.workers else None}
        self.loader = StatefulDataLoader(dataset, collate_fn=torch_data.collate(w), **told)

    def fit(self, saved):
        try:
            while self.thread is not None:  # a fit without batches ends by itself
                self.trainer.fit(Model(self), self.loader, ckpt_path=saved and saved.name)
                self.hand_over(saved := None)
        except BaseException as error:
            self.hand_over(error)

    def hand_over(self, batch):
        if self.thread is not None:
            self.given.put(batch)
            self.asked.get()

    def epoch(self):
        if self.loaded is not None or not self.between:
            self.close()
        if self.thread is not None:
            self.asked.put("the epoch")
        else:
            self.given, self.asked = queue.Queue(), queue.Queue()
            self.thread = threading.Thread(target=self.fit, args=(self.loaded,), daemon=True)
            self.thread.start()
        self.loaded, self.between = None, False
        return self.batches()

    def batches(self):
        while not isinstance(batch := self.given.get(), BaseException | None):
            yield batch
            self.asked.put("the next batch")
        self.between = batch is None
        if batch is not None:
            raise batch

    def state(self):
        file = self.loaded or tempfile.NamedTemporaryFile()  # noqa: SIM115 - goes with its name
        if self.loaded is None:
            self.trainer.save_checkpoint(file.name)
        return pathlib.Path(file.name).read_bytes()

    def load(self, state):
        file = tempfile.NamedTemporaryFile()  # noqa: SIM115 - a fit reads it later
        pathlib.Path(file.name).write_bytes(state)
        self.loaded = file

    def close(self):
        thread, self.thread = self.thread, None
        if thread is not None:
            self.trainer.should_stop = True
            self.asked.put("the end")
            thread.join()


class Adapter:
    """Offers torch's datasets of all kinds under any worker count."""

    def offer(self):
        kinds = ("map", "iterable", "stateful_iterable", "stateful_map")
        offer = {"name": "lightning-midepoch", "package": "lightning", "codecs": ("bytes",)}
        offer |= {"kinds": kinds, "fixed_plan": kinds, "workers": (0, 1, 2, 3, 5)}
        offer |= {"start_methods": ("fork", "spawn", "forkserver"), "persistent": (False, True)}
        offer |= {"tails": ("keep", "drop"), "intervals": (1, 2, 3, 100), "boundary": "stream"}
        offer |= {"saves": ("mid", "end"), "draws": ("python", "numpy", "torch")}
        offer |= {"extras": ("streams", "trees", "iterator state", "arrays", *torch_data.RANKS)}
        why = dict.fromkeys(("dealt", "process group"), "several processes would have to train")
        why |= {"live_load": "a load is for the next fit", "own": "its samples are given no source"}
        return offer | {"live_load": "next", "reasons": why}

    declines = staticmethod(torch_data.reason_to_decline)

    def prepare(self, w, root): ...

    def open(self, w, x, root):
        return Session(w, x)
