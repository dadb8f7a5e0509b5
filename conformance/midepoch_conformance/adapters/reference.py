"""Reaches midepoch's own ``StatefulDataLoader``.

Its documented source of random numbers are the two generators that ``batch_info()`` gives to each
batch. The loader also seeds the global streams before each batch, except in worker threads, which
share them.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite but torch_data, and the scripts of failures carry its lines.
# ruff: noqa: D102

import multiprocessing
import os
import tempfile
from concurrent.futures import Future
from multiprocessing.connection import wait

import torch
from torch import distributed

from midepoch import StatefulDataLoader, batch_info, merge_states
from midepoch_conformance.adapters import torch_data


def draw():
    """Draw a number from each generator of the documented source, added up."""
    info = batch_info()
    return float(torch.rand((), generator=info.torch)) + float(info.numpy.random())


def place(x):
    """Return which rank the loader is of; a process group knows it."""
    return "auto" if x.together else (x.rank, x.world)


def dealt(w, x, dataset):
    """Return the loader's arguments for the order of samples and batches."""
    if w.ranks in ("", "dealt"):
        ranks = {"ranks": place(x)} if w.ranks else {}
        return torch_data.order(w, x, dataset, last_batch=TAILS[w.tail]) | ranks
    return {
        "shuffle": w.shuffle,
        "last_batch": TAILS[w.tail],
        "ranks": place(x),
        "global_batch_size": w.batch_size,
        "on_world_change": "recut" if w.ranks == "cut anew" else "refuse",
    }


class Session:
    """One life of the loader."""

    def __init__(self, w, x):
        self.w, self.dataset = w, torch_data.dataset_of(w, draw)
        processes = x.workers and x.worker_kind == "process"
        lives_on = x.persistent or not x.workers
        self.loader = StatefulDataLoader(
            self.dataset,
            **dealt(w, x, self.dataset),
            collate_fn=torch_data.collate(w),
            worker_init_fn=torch_data.set_up if w.stream == "set up" else None,
            seed=None if w.adopts else w.seed,
            data_id=w.data or None,
            replay_check=list if w.checked else None,
            lanes=x.lanes,
            # Streams that remember their passes are among the cases: they live on where torch's do.
            # Those that keep a loaded state cannot.
            lifetime="run" if lives_on and w.stream != "sticky" else "epoch",
            num_workers=x.workers,
            worker_type=x.worker_kind,
            worker_restarts=x.restarts,
            in_order=x.in_order,
            multiprocessing_context=x.start_method if processes else None,
            prefetch_factor=x.prefetch,
            persistent_workers=x.persistent,
            # A way to prefetch that the cases have no word for. It begins an epoch more than is
            # asked for, so costs are counted without it.
            prefetch_next_epoch=bool(x.workers and x.persistent and x.prefetch and not w.log),
            snapshot_every_n_steps=x.interval,
        )

    def epoch(self):
        return iter(self.loader)

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        self.loader.load_state_dict(state)

    def merge(self, states):
        return merge_states(states)

    def close(self):
        del self.loader


class EpochSession(torch_data.EpochsFromOutside, Session):
    """One life of the loader, for a user who sets each epoch."""


def be_rank(link, store, rank, w, x):
    """Be one rank of a process group: do as the session asks until the process is killed."""
    distributed.init_process_group(
        "gloo", init_method=f"file://{store}", rank=rank, world_size=x.world
    )
    torch.manual_seed(torch.initial_seed() + rank)  # so that each rank draws another seed
    session = batches = answer = None
    while True:
        asked, given = link.recv()
        try:
            if asked == "open":
                session = Session(w, x)
            elif asked == "epoch":
                batches, answer = session.epoch(), None
            elif asked == "batch":
                answer = next(batches, None)
            elif asked == "state":
                answer = session.state()
            else:
                answer = session.load(given if w.ranks == "dealt" else given[rank % len(given)])
            link.send((answer, None))
        except Exception as error:
            link.send((None, error))


class GroupSession:
    """One life of all ranks of a process group, each in a process of its own."""

    def __init__(self, w, x):
        self.w, self.links, self.processes = w, [], []
        context = multiprocessing.get_context("fork")
        self.folder = tempfile.TemporaryDirectory()
        store = os.path.join(self.folder.name, "store")
        for rank in range(x.world):
            here, there = context.Pipe()
            args = (there, store, rank, w, x)
            process = context.Process(target=be_rank, args=args, daemon=True)
            process.start()
            there.close()
            self.links.append(here)
            self.processes.append(process)
        self.ask("open")

    def ask(self, asked, given=None):
        """Ask all ranks at once, and return their answers.

        An error or a death ends all of them, as torchrun does. Neither is raised by a line of this
        file: it would count as the adapter's own.
        """
        for link in self.links:
            link.send((asked, given))
        answers = {}
        while len(answers) < len(self.links):
            for link in wait([link for link in self.links if link not in answers]):
                try:
                    answers[link], error = link.recv()
                except EOFError:
                    self.close()
                    raise
                if error is not None:
                    self.close()
                    failed = Future()
                    failed.set_exception(error)
                    failed.result()
        return [answers[link] for link in self.links]

    def epoch(self):
        self.ask("epoch")
        return self.batches()

    def batches(self):
        while any(parts := self.ask("batch")):
            yield [row for part in parts for row in part or ()]

    def state(self):
        states = self.ask("state")
        return merge_states(states) if self.w.ranks == "dealt" else states

    def load(self, state):
        self.ask("load", state)

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        for link in self.links:
            link.close()
        self.folder.cleanup()


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
        if w.grow or w.sampler == "distributed":
            return EpochSession(w, x)
        if x.together:
            return GroupSession(w, x)
        return Session(w, x)


AMBIENT = ("python", "numpy", "torch")
EXTRAS = (
    *(
        "streams",
        "sticky streams",
        "trees",
        "iterator state",
        "samplers",
        "set_epoch",
        "growing",
        "arrays",
        "payloads",
        "unbatched",
    ),
    *(
        "world",
        "shared",
        "cut anew",
        "dealt",
        "restarts",
        "unordered states",
        "adoption",
        "replay checks",
        "process group",
    ),
)
TAILS = {"keep": "keep", "drop": "discard", "rollover": "rollover"}
