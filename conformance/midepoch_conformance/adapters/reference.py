"""Reaches midepoch's own ``StatefulDataLoader``.

Samples draw from the two generators that ``batch_info()`` gives to each batch, or from the global
streams, which the loader seeds before each batch, except in worker threads, which share them.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but its neighbours, and the scripts of failures carry its lines.
# ruff: noqa: D102

import torch

from midepoch import StatefulDataLoader, StatefulDistributedSampler, batch_info, merge_states
from midepoch_conformance.adapters import process_group, torch_data


def draw():
    """Draw a number from each generator of the documented source, added up."""
    info = batch_info()
    return float(torch.rand((), generator=info.torch)) + float(info.numpy.random())


def dealt(w, x, dataset):
    """Return the loader's arguments for the order of samples and batches."""
    ranks = {"ranks": "auto" if x.together else (x.rank, x.world)} if w.ranks else {}
    if w.ranks in ("", "dealt"):
        given = torch_data.order(w, x, dataset, last_batch=TAILS[w.tail])
        if w.sampler == "distributed" and w.n % 2:  # users have this sampler, or torch's own
            of = (x.world, x.rank, w.shuffle, w.seed)
            given["sampler"] = StatefulDistributedSampler(dataset, *of)
        return given | ranks
    recut = {"on_world_change": "recut" if w.ranks == "cut anew" else "refuse"}
    order = {"shuffle": w.shuffle, "last_batch": TAILS[w.tail], "global_batch_size": w.batch_size}
    return order | ranks | recut


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, torch_data.dataset_of(w, draw)
        processes = x.workers and x.worker_kind == "process"
        self.loader = StatefulDataLoader(
            self.dataset,
            **dealt(w, x, self.dataset),
            collate_fn=torch_data.collate(w, draw),
            worker_init_fn=torch_data.set_up if w.stream in torch_data.SET_UP else None,
            seed=None if w.adopts else w.seed,
            data_id=None if w.shuffle else w.data or None,  # then the dataset has a fingerprint
            replay_check=list if w.checked else None,
            empty_rest="skip" if w.skips else "deliver",
            lanes=x.lanes,
            lifetime=torch_data.lifetime(w, x),
            num_workers=x.workers,
            worker_type=x.worker_kind,
            worker_restarts=x.restarts,
            in_order=x.in_order,
            multiprocessing_context=x.start_method if processes else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            # A dataset cannot know an epoch that its user has not set yet.
            prefetch_next_epoch=bool(
                x.workers and x.persistent and x.prefetch and w.stream != "set"
            ),
            snapshot_every_n_steps=x.interval,
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def name_epoch(self, epoch):
        self.loader.set_epoch(epoch)

    def merge(self, states):
        return merge_states(states)

    def close(self):
        del self.loader


class EpochSession(torch_data.EpochsFromOutside, Session):
    """One life of the loader, for a user who sets each epoch; a load sets the sampler's."""

    restores_epoch = True

    def set_epoch(self):
        self.dataset.length = self.w.length(self.number)
        self.loader.set_epoch(self.number)


class Adapter:
    """Offers map-style and iterable datasets of all kinds under any worker count."""

    def offer(self):
        kinds = ("map", "iterable", "stateful_iterable", "stateful_map")
        return {
            "name": "reference",
            "package": "midepoch",
            "kinds": kinds,
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own", *AMBIENT, *(f"private {name}" for name in AMBIENT)),
            "codecs": ("pickle", "torch", "json"),
            "fixed_plan": kinds,
            "start_methods": ("fork", "spawn", "forkserver"),
            "worker_kinds": ("process", "thread"),
            "orders": (True, False),
            "tails": ("keep", "drop", "rollover"),
            "intervals": (1, 2, 3, 100),
            "persistent": (False, True),
            "formats": ("midepoch",),
            "live_load": "raises",
            "extras": EXTRAS,
        }

    def declines(self, w, x):
        if x.workers and x.worker_kind == "thread" and set(w.draws) & set(AMBIENT):
            return "threads share the global streams: only batch_info() is seeded in them"
        return torch_data.reason_to_decline(w, x)

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        if w.grow or w.sets_epoch:
            return EpochSession(w, x)
        if x.together:
            merge = merge_states if w.ranks == "dealt" else None
            return process_group.Ranks(Session, w, x, merge)
        return Session(w, x)


AMBIENT = ("python", "numpy", "torch")
EXTRAS = (
    "streams", "sticky streams", "trees", "iterator state", "samplers", "set_epoch", "growing",
    "arrays", "payloads", "unbatched", "set up", "world", "shared", "cut anew", "dealt", "restarts",
    "unordered states", "adoption", "replay checks", "process group", "failing states", "skipping",
    "named epochs", "collating", "failing collate", "getitems", "set streams", "beside",
    "asked again",
    "many workers",
)  # fmt: skip
TAILS = {"keep": "keep", "drop": "discard", "rollover": "rollover"}
