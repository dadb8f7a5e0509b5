"""Reaches the ``DataLoader`` of MXNet Gluon: a control without a state, so nothing can be resumed.

``shuffle`` draws from NumPy's global stream, which the user seeds at the start. ``thread_pool``
makes the workers threads. ``batchify_fn`` makes a list of rows.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import numpy
from mxnet.gluon.data import DataLoader, Dataset

TAILS = {"keep": "keep", "drop": "discard", "rollover": "rollover"}


class Rows(Dataset):
    """A dataset of rows."""

    def __init__(self, w):
        self.w = w

    def __len__(self):
        return self.w.n

    def __getitem__(self, i):
        return self.w.row(int(i))


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        numpy.random.seed(w.seed)  # the stream that its RandomSampler draws from
        self.loader = DataLoader(
            Rows(w),
            batch_size=w.batch_size,
            shuffle=w.shuffle,
            last_batch=TAILS[w.tail],
            batchify_fn=list,
            num_workers=x.workers,
            prefetch=x.prefetch,
            thread_pool=x.worker_kind == "thread",
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        raise NotImplementedError("Gluon's DataLoader has no state_dict")

    def load(self, state):
        raise NotImplementedError("Gluon's DataLoader has no load_state_dict")

    def close(self):
        del self.loader


class Adapter:
    """Offers random access by processes and threads, and no state."""

    def offer(self):
        arrays = "its datasets are random access, and it asks them for no state"
        quiet = "its documentation names no random draws of samples"
        return {
            "name": "mxnet",
            "package": "mxnet",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "saves": (),
            "codecs": (),
            "fixed_plan": ("map",),
            "worker_kinds": ("process", "thread"),
            "tails": ("keep", "drop", "rollover"),
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), arrays),
                **dict.fromkeys(("python", "numpy", "torch", "own"), quiet),
                "saves": "Gluon's DataLoader has no state: nothing can be resumed",
                "persistent": "it has no such option: its workers always outlive an epoch",
                "spawn": "it forks its workers",
                "forkserver": "it forks its workers",
                "restarts": "it has no means to replace a worker",
            },
        }

    def declines(self, w, x):
        if x.workers == 0 and x.prefetch is not None:
            return "prefetch works only if num_workers > 0"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
