"""Reaches MosaicML's ``StreamingDataset`` in its ``StreamingDataLoader``, as its guides do.

``prepare`` writes shards with ``MDSWriter``, and a subclass makes rows in ``__getitem__``. The
dataset gets the ``batch_size`` of the loader, which its guide of resumption asks for, and
``num_canonical_nodes=1``, which its docstring asks for where samples are to come in order. The
loader counts the samples of a batch by the length of a dictionary's first value: so samples are
dictionaries, as in the guides. The names of its shared memory are fixed for the whole machine.

On a machine whose torchvision does not import, ``conformance/environments/stand_in`` goes on the
path.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import os

import streaming


def folder_of(w, root):
    """Return the folder of a workload's shards."""
    return os.path.join(root, f"mds-{w.n}")


class Rows(streaming.StreamingDataset):
    """Makes a row of the number that a shard has."""

    def __init__(self, w, **args):
        super().__init__(**args)
        self.w = w

    def __getitem__(self, at):
        return {"row": self.w.row(super().__getitem__(at)["id"])}


def columns(samples):
    """Collate samples to a dictionary of columns, as torch's default does, and keep the rows."""
    return {"row": [sample["row"] for sample in samples]}


def rows_of(batch):
    """Return the rows of a batch."""
    return batch["row"]


class Session:
    """One life of the loader."""

    def __init__(self, w, x, root):
        dataset = Rows(
            w,
            local=folder_of(w, root),
            batch_size=w.batch_size,
            shuffle=w.shuffle,
            shuffle_seed=w.seed,
            num_canonical_nodes=1,
        )
        self.loader = streaming.StreamingDataLoader(
            dataset,
            batch_size=w.batch_size,
            drop_last=w.tail == "drop",
            collate_fn=columns,
            num_workers=x.workers,
            multiprocessing_context=x.start_method if x.workers else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
        )

    def epoch(self):
        return map(rows_of, iter(self.loader))

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def close(self):
        del self.loader


class Adapter:
    """Offers shuffled and ordered epochs of shards under any worker count."""

    def offer(self):
        quiet = "its documentation names no random draws of samples"
        shards = "its datasets read shards, and find any sample by its number"
        return {
            "name": "streaming",
            "package": "mosaicml-streaming",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "codecs": ("json", "pickle"),
            "fixed_plan": ("map",),
            "start_methods": ("fork", "spawn", "forkserver"),
            "tails": ("keep", "drop"),
            "persistent": (False, True),
            "exclusive": True,
            "live_load": "next",
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), shards),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "intervals": "it has no snapshot interval",
                "restarts": "it has no means to replace a worker",
                "rollover": "it keeps or drops an incomplete batch",
                "live_load": "its docstring says that a load is for the next __iter__",
            },
        }

    def declines(self, w, x):
        if w.n == 0:
            return "a stream without samples is an error"
        if x.workers == 0 and (x.persistent or x.prefetch is not None):
            return "persistent_workers and prefetch_factor need num_workers > 0"
        return None

    def prepare(self, w, root):
        if w.n == 0:
            return
        with streaming.MDSWriter(out=folder_of(w, root), columns={"id": "int"}) as shards:
            for i in range(w.n):
                shards.write({"id": i})

    def open(self, w, x, root):
        return Session(w, x, root)
