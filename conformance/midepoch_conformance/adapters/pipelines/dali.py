"""Reaches NVIDIA DALI's ``Pipeline`` on CPUs alone, with checkpointing, as its guide does.

``prepare`` writes a file for each sample, and ``fn.readers.numpy`` reads them. The pipeline has
``enable_checkpointing``, and a resume builds it with ``checkpoint``. ``random_shuffle`` is the
reader's, and ``fn.random.uniform`` gives each sample its draw, because its guide promises the
state of all generators. ``pad_last_batch`` lets each epoch begin with a batch of its own, as the
guide of sharding says, and the user leaves out what fills a last batch up. All epochs are one
stream of runs, and the user keeps the number of the present epoch's samples beside the checkpoint,
as DALI's iterators do in theirs, which need PyTorch on a GPU, or another framework.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import os

import numpy
from nvidia import dali
from nvidia.dali import fn


def folder_of(w, root):
    """Return the folder of a workload's files."""
    return os.path.join(root, f"dali-{w.n}")


class Session:
    """One life of the pipeline, for a user who counts an epoch's samples."""

    count = 0

    def __init__(self, w, x, root):
        self.w, self.x, self.folder = w, x, folder_of(w, root)
        self.pipeline = self.built(None)

    def built(self, checkpoint):
        """Return the pipeline, at a checkpoint if there is one."""
        pipeline = dali.Pipeline(
            batch_size=self.w.batch_size,
            num_threads=1,
            device_id=None,
            seed=self.w.seed,
            prefetch_queue_depth=2 if self.x.prefetch is None else self.x.prefetch,
            enable_checkpointing=True,
            checkpoint=checkpoint,
        )
        with pipeline:
            numbers = fn.readers.numpy(
                file_root=self.folder,
                files=[f"{i}.npy" for i in range(self.w.n)],
                random_shuffle=self.w.shuffle,
                pad_last_batch=True,
            )
            pipeline.set_outputs(numbers, fn.random.uniform(range=(0.0, 1.0)))
        pipeline.build()
        return pipeline

    def epoch(self):
        while self.count < self.w.n:
            numbers, drawn = self.pipeline.run()
            size = min(self.w.n - self.count, self.w.batch_size)
            self.count += size
            if size == self.w.batch_size or self.w.tail == "keep":
                yield [self.row(numbers.at(i), drawn.at(i)) for i in range(size)]
        self.count = 0

    def row(self, number, drawn):
        """Return the row of a sample."""
        return self.w.row(int(number[0]), lambda: float(drawn))

    def state(self):
        return {"checkpoint": self.pipeline.checkpoint(), "count": self.count}

    def load(self, state):
        self.pipeline = self.built(state["checkpoint"])
        self.count = state["count"]

    def close(self):
        del self.pipeline


class Adapter:
    """Offers shuffled and ordered epochs of files, read by the pipeline's own threads."""

    def offer(self):
        files = "its readers know their files, and find any of them by its number"
        streams = "its generators of random numbers are operators of the pipeline"
        return {
            "name": "dali",
            "package": "nvidia-dali-cuda120",
            "kinds": ("map",),
            "draws": ("own",),
            "boundary": "stream",
            "codecs": ("pickle",),
            "fixed_plan": ("map",),
            "tails": ("keep", "drop"),
            "live_load": "applies",
            "fork_safe": False,
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), files),
                **dict.fromkeys(("python", "numpy", "torch"), streams),
                "workers": "threads of the pipeline run its operators, and rows are made after it",
                "json": "a checkpoint is a string of bytes",
                "intervals": "it has no snapshot interval",
                "restarts": "it has no worker that could die alone",
                "rollover": "its readers fill an incomplete batch up",
            },
        }

    def declines(self, w, x):
        return "a reader without files is an error" if w.n == 0 else None

    def prepare(self, w, root):
        os.makedirs(folder_of(w, root), exist_ok=True)
        for i in range(w.n):
            numpy.save(os.path.join(folder_of(w, root), f"{i}.npy"), numpy.array([i]))

    def open(self, w, x, root):
        return Session(w, x, root)
