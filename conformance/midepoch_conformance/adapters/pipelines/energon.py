"""Reaches Megatron-Energon's savable loader, as its guides of saving and of task encoders do.

``prepare`` writes a JSONL file and its index. A ``TaskEncoder`` makes rows in ``encode_sample``,
which is ``stateless(restore_seeds=True)``: its docstring asks for that where samples draw. Shuffled
epochs have the buffer and the sequences of samples of ``get_train_dataset``; ordered ones leave
both out. ``repeat=False`` ends an epoch with its last sample. ``checkpoint_every_sec=0`` and
``checkpoint_every_min_n_samples=1`` let workers keep a checkpoint of each batch, and
``reraise_exception`` shows errors that the default handler logs. The guide saves the state of
``save_state_rank`` by ``torch.save``, and loads it by ``torch.load``.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import json
import os

from megatron import energon
from megatron.energon.flavors import DefaultCrudeJsonlDatasetFactory


def file_of(w, root):
    """Return the name of the file of a workload's samples."""
    return os.path.join(root, f"energon-{w.n}.jsonl")


@energon.stateless
def number(sample):
    """Return a sample of one number, with the keys by which a buffer restores it."""
    return {**energon.basic_sample_keys(sample), "id": sample["json"]["id"]}


class Rows(energon.DefaultTaskEncoder):
    """Makes rows and batches of them."""

    cookers = (energon.Cooker(number),)

    def __init__(self, w):
        super().__init__()
        self.w = w

    @energon.stateless(restore_seeds=True)
    def encode_sample(self, sample):
        return {**sample, "row": self.w.row(sample["id"])}

    @energon.stateless
    def batch(self, samples):
        return {"rows": [sample["row"] for sample in samples]}

    @energon.stateless
    def encode_batch(self, batch):
        return batch


class Session:
    """One life of the loader."""

    def __init__(self, w, x, root):
        told = {"seed_offset": w.seed, "global_error_handler": energon.reraise_exception}
        workers = energon.WorkerConfig(rank=0, world_size=1, num_workers=x.workers, **told)
        ordered = {"shuffle_over_epochs_multiplier": None, "parallel_shard_iters": 1}
        dataset = energon.get_train_dataset(
            file_of(w, root),
            worker_config=workers,
            batch_size=w.batch_size,
            batch_drop_last=w.tail == "drop",
            shuffle_buffer_size=4 if w.shuffle else None,
            max_samples_per_sequence=4 if w.shuffle else None,
            task_encoder=Rows(w),
            repeat=False,
            **({} if w.shuffle else ordered),
        )
        self.loader = energon.get_savable_loader(
            dataset,
            checkpoint_every_sec=0,
            checkpoint_every_min_n_samples=1,
            prefetch_factor=x.prefetch or 2,
        )

    def epoch(self):
        return map(lambda b: b["rows"], self.loader)  # noqa: C417 - an error ends a generator

    def state(self):
        return self.loader.save_state_rank()

    def load(self, state):
        self.loader.restore_state_rank(state)

    def close(self):
        del self.loader


class Adapter:
    """Offers epochs of a stream of samples, divided among any number of forked workers."""

    def offer(self):
        kept = "its datasets are streams of files, all of which have a state"
        return {
            "name": "energon",
            "package": "megatron-energon",
            "kinds": ("stateful_iterable",),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("python", "numpy", "torch"),
            "codecs": ("pickle", "torch"),
            "tails": ("keep", "drop"),
            "boundary": "stream",
            "extras": ("shuffled streams",),
            "reasons": {
                **dict.fromkeys(("map", "iterable", "stateful_map"), kept),
                "own": "its task encoders draw from the global streams, which it seeds",
                "json": "its state is an object, which its guide saves by torch.save",
                "spawn": "it starts its workers by fork alone",
                "persistent": "its workers always outlive an epoch",
                "restarts": "it raises an error when a worker dies, and replaces none",
                "rollover": "it keeps or drops an incomplete batch",
            },
        }

    def declines(self, w, x):
        return "a file without samples is an error" if w.n == 0 else None

    def prepare(self, w, root):
        with open(file_of(w, root), "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps({"id": i}) + "\n" for i in range(w.n))
        DefaultCrudeJsonlDatasetFactory.prepare_dataset(file_of(w, root))

    def open(self, w, x, root):
        return Session(w, x, root)
