"""The suite's way to dockload."""
import functools

import numpy as np
import torch
from torch.utils.data import (BatchSampler, DistributedSampler, RandomSampler, SubsetRandomSampler,
                              WeightedRandomSampler)

import dockload


def drawing(w):
    """A function that draws a float from the loader's own source, or None."""
    return (lambda: dockload.source().random()) if "own" in (w.draws or ()) else None


def place():
    return dockload.lane_info() or (0, 1)


class Rows:
    def __init__(self, w):
        self.w, self.n = w, w.n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.w.row(i, drawing(self.w))


class RowsAtOnce(Rows):
    def __getitems__(self, keys):
        return [self.w.row(i, drawing(self.w)) for i in keys]


class StatefulRows:
    def __init__(self, w):
        self.w, self.n, self.rows = w, w.n, None

    def source(self):
        if self.rows is None:
            self.rows = self.w.source(*place(), drawing(self.w))
        return self.rows

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.source()[i]

    def state_dict(self):
        return self.source().state_dict()

    def load_state_dict(self, state):
        self.source().load_state_dict(state)


class Stream:
    def __init__(self, w):
        self.w, self.part = w, None

    def where(self):
        return self.part or place()

    def __iter__(self):
        self.w.note("iter")
        return iter(self.w.stream_of(*self.where(), drawing(self.w)))


class StatefulStream(Stream):
    rows = None

    def source(self):
        if self.rows is None:
            self.rows = self.w.source(*self.where(), drawing(self.w))
        return self.rows

    def __iter__(self):
        self.w.note("iter")
        return iter(self.source())

    def state_dict(self):
        return self.source().state_dict()

    def load_state_dict(self, state):
        self.source().load_state_dict(state)


class OwnIterator(Stream):
    def __iter__(self):
        self.w.note("iter")
        self.now = self.w.stream_of(*self.where(), drawing(self.w))
        return self

    def __next__(self):
        return next(self.now)


class StatefulOwnIterator(StatefulStream):
    def __iter__(self):
        self.w.note("iter")
        self.now = iter(self.source())
        return self

    def __next__(self):
        return next(self.now)


class IteratorState(Stream):
    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*self.where(), drawing(self.w))


class BothStates(IteratorState):
    passes = 0

    def state_dict(self):
        return {"passes": self.passes}

    def load_state_dict(self, state):
        self.passes = state["passes"]


def divide(dataset, lane, lanes):
    dataset.part = dataset.w.part = (lane, lanes)


def unpacked(w, batch):
    return batch


def collated(w, rows):
    draw = drawing(w)
    if not w.batch_size and not w.gives_batches:
        return [*rows, *w.drawn(draw)]
    return [[*row, *w.drawn(draw)] for row in rows]


def sampler_of(w, x, data):
    g = torch.Generator().manual_seed(w.seed)
    if w.sampler == "random":
        return RandomSampler(data, generator=g)
    if w.sampler == "replacement":
        return RandomSampler(data, replacement=True, generator=g)
    if w.sampler == "subset":
        return SubsetRandomSampler(w.subset, generator=g)
    if w.sampler == "weighted":
        return WeightedRandomSampler(w.weights, w.n, generator=g)
    if w.sampler == "distributed":
        return DistributedSampler(data, num_replicas=x.world, rank=x.rank, shuffle=w.shuffle, seed=w.seed)
    return w.order()


FORMS = {"own iterator": OwnIterator, "stateful own iterator": StatefulOwnIterator, "iterator state": IteratorState,
         "both states": BothStates}


class Session:
    def __init__(self, w, x):
        self.w, self.count, self.inside = w, 0, False
        if w.kind == "map":
            self.data = RowsAtOnce(w) if w.getitems else Rows(w)
        elif w.kind == "stateful_map":
            self.data = StatefulRows(w)
        elif w.kind == "iterable":
            self.data = FORMS.get(w.form, Stream)(w)
        else:
            self.data = FORMS.get(w.form, StatefulStream)(w)
        args = {"workers": x.workers, "persistent": x.persistent, "kind": x.worker_kind or "process",
                "start_method": x.start_method or "fork", "prefetch": x.prefetch, "tail": w.tail,
                "in_order": x.in_order, "restarts": x.restarts or 0, "lanes": x.lanes, "data": w.data,
                "skip_empty_rest": bool(w.skips)}
        if x.interval is not None:
            args["snapshot_every"] = x.interval
        if not w.adopts:
            args["seed"] = w.seed
        self.sampler = sampler_of(w, x, self.data) if w.sampler else None
        if self.sampler is None and w.shuffle:
            args |= {"order": "shuffle", "mix": 6}
        if self.sampler is not None:
            args["batch_sampler" if w.gives_batches else "sampler"] = self.sampler
        if w.fails_in == "collate_fn":
            args["collate"] = w.collate
        elif w.collated:
            args["collate"] = functools.partial(collated, w)
        if w.stream == "divided":
            args["setup"] = divide
        if x.world > 1 or w.ranks:
            args |= {"rank": x.rank, "world": x.world}
            if w.ranks:
                args |= {"ranks": "dealt" if w.ranks == "dealt" else "shared", "recut": w.ranks == "cut anew"}
            elif self.sampler is None:
                args["ranks"] = "split"
        self.loader = dockload.Loader(self.data, w.batch_size or None, **args)
        self.lone = not w.batch_size and not w.gives_batches

    def begin(self):
        w = self.w
        if w.grow:
            self.data.n = w.length(self.count)
        if w.sets_epoch and w.sampler:
            self.sampler.set_epoch(self.count)
        if w.stream == "set":
            self.data.w.epoch = self.count

    def keeps(self):
        return self.w.grow or (self.w.sets_epoch and self.w.sampler) or self.w.stream == "set"

    def epoch(self):
        if self.keeps():
            return self.counted()
        iterator = iter(self.loader)
        return map(lambda row: [row], iterator) if self.lone else iterator

    def counted(self):
        if self.inside:
            self.count += 1
        self.begin()
        return Counted(self, iter(self.loader))

    def state(self):
        state = self.loader.state_dict()
        return {"loader": state, "epoch": self.count} if self.keeps() else state

    def load(self, state):
        if self.keeps():
            if not isinstance(state, dict) or set(state) != {"loader", "epoch"}:
                raise ValueError("this is not what state() gave: the loader's state and the epoch")
            before, self.count = self.count, state["epoch"]
            self.begin()
            try:
                self.loader.load_state_dict(state["loader"])
            except Exception:
                self.count = before
                self.begin()
                raise
            self.inside = False
        else:
            self.loader.load_state_dict(state)

    def name_epoch(self, epoch):
        self.loader.set_epoch(epoch)

    def merge(self, states):
        return dockload.merge(states)

    def close(self):
        self.loader.close()
        self.__dict__.clear()


class Counted:
    """The loader's iterator, for a user who counts epochs."""

    def __init__(self, session, iterator):
        self.session, self.iterator, self.ended = session, iterator, False

    def __iter__(self):
        return self

    def __next__(self):
        session = self.session
        try:
            batch = next(self.iterator)
        except StopIteration:
            if not self.ended:
                self.ended, session.inside = True, False
                session.count += 1
            raise
        session.inside = True
        return [batch] if session.lone else batch


OFFER = {
    "name": "dockload",
    "package": "dockload",
    "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
    "workers": (0, 1, 2, 3),
    "fixed_plan": ("map", "iterable", "stateful_iterable", "stateful_map"),
    "start_methods": ("fork", "spawn", "forkserver"),
    "worker_kinds": ("process", "thread"),
    "persistent": (False, True),
    "intervals": (1, 2, 3, 100),
    "orders": (True, False),
    "shuffles": (False, True),
    "tails": ("keep", "drop", "rollover"),
    "codecs": ("pickle", "torch", "json"),
    "draws": ("own", "python", "numpy", "torch", "private python", "private numpy", "private torch"),
    "saves": ("start", "mid", "end"),
    "live_load": "raises",
    "broken": "counts",
    "fork_safe": True,
    "exclusive": False,
    "extras": ("streams", "sticky streams", "shuffled streams", "trees", "iterator state", "samplers", "set_epoch", "set streams", "growing",
               "arrays", "payloads", "collating", "failing collate", "getitems", "beside", "asked again",
               "many workers", "unbatched", "set up", "world", "shared", "cut anew", "dealt", "named epochs",
               "restarts", "unordered states", "adoption", "failing states", "skipping"),
    "reasons": {"draws": "a dataset's own generators are kept only where the dataset states them"},
}


class Adapter:
    def offer(self):
        return OFFER

    def declines(self, w, x):
        if x.workers and x.worker_kind == "thread" and {"python", "numpy", "torch"} & set(w.draws or ()):
            return "threads share the global streams, and dockload documents that it does not seed them there"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
