"""The adapter of pullline for the conformance suite."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import random

import numpy
import torch
import pullline

draw = pullline.draw


def place():
    """The lane that asks, and the number of lanes."""
    p = pullline.here()
    return (p.lane, p.lanes) if p is not None else (0, 1)


class Rows:
    def __init__(self, w):
        self.w = w
        self.length = w.n

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.w.row(i, draw)


class ManyRows(Rows):
    def __getitems__(self, indices):
        return [self.w.row(i, draw) for i in indices]


class StatefulRows(Rows):
    def __init__(self, w):
        super().__init__(w)
        self.source = None

    def _source(self):
        if self.source is None:
            self.source = self.w.source(0, 1, draw)
        return self.source

    def __getitem__(self, i):
        return self._source()[i]

    def state_dict(self):
        return self._source().state_dict()

    def load_state_dict(self, state):
        self._source().load_state_dict(state)


class Stream:
    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        return self.w.stream_of(*place(), draw)


class IteratorStream:
    """The state is kept by the iterator alone."""

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*place(), draw)


class StatefulStream:
    def __init__(self, w):
        self.w, self.source = w, None

    def _source(self):
        if self.source is None:
            self.source = self.w.source(*place(), draw)
        return self.source

    def __iter__(self):
        self.w.note("iter")
        return iter(self._source())

    def state_dict(self):
        return self._source().state_dict()

    def load_state_dict(self, state):
        self._source().load_state_dict(state)


class BothStates(StatefulStream):
    def __iter__(self):
        self.w.note("iter")
        return self.w.iterator(*place(), draw)


class Collate:
    def __init__(self, w):
        self.w = w

    def __call__(self, rows):
        if not self.w.batch_size:
            return [*rows, *self.w.drawn(draw)]
        return [[*row, *self.w.drawn(draw)] for row in rows]


def sampler(w, x):
    """torch's own sampler of this name, with a generator, or the suite's."""
    g = torch.Generator().manual_seed(w.seed)
    u = torch.utils.data
    if w.sampler == "random":
        return u.RandomSampler(range(w.n), generator=g)
    if w.sampler == "replacement":
        return u.RandomSampler(range(w.n), replacement=True, generator=g)
    if w.sampler == "distributed":
        return u.DistributedSampler(range(w.n), num_replicas=x.world or 1, rank=x.rank or 0, seed=w.seed)
    if w.sampler == "subset":
        return u.SubsetRandomSampler(w.subset, generator=g)
    if w.sampler == "weighted":
        return u.WeightedRandomSampler(w.weights, w.n, generator=g)
    return w.order()


def divide(lane, lanes, dataset):
    dataset.w.part = (lane, lanes)


class PerEpoch:
    """A user that counts epochs: they end when the iterator says so, or are broken off."""

    def __init__(self, session):
        self.session, self.it, self.done = session, iter(session.loader), False

    def __iter__(self):
        return self

    def __next__(self):
        try:
            batch = next(self.it)
        except StopIteration:
            if not self.done:
                self.done = True
                self.session.count += 1
                self.session.open = False
            raise
        self.session.open = True
        return self.session.rows(batch)


class Session:
    def __init__(self, w, x):
        self.w, self.count, self.open = w, 0, False
        args = {"seed": None if w.adopts else w.seed, "workers": x.workers, "worker_kind": x.worker_kind, "prefetch": x.prefetch,
                "persistent": x.persistent, "start_method": x.start_method}
        if x.interval is not None:
            args["interval"] = x.interval
        if x.lanes is not None:
            args["lanes"] = x.lanes
        if x.restarts:
            args["restarts"] = x.restarts
        self.sampler = None
        if w.sampler:
            self.sampler = args["batch_sampler" if w.gives_batches else "sampler"] = sampler(w, x)
        if w.kind == "map":
            data = ManyRows(w) if w.getitems else Rows(w)
        elif w.kind == "stateful_map":
            data = StatefulRows(w)
        elif w.kind == "iterable":
            data = Stream(w)
        elif w.form == "iterator state":
            data = IteratorStream(w)
        elif w.form == "both states":
            data = BothStates(w)
        else:
            data = StatefulStream(w)
        if w.collated:
            args["collate_fn"] = Collate(w)
        if w.stream == "divided":
            args["setup"] = divide
        if w.fails_in == "collate_fn":
            args["collate_fn"] = w.collate
        self.data = data
        self.loader = pullline.Loader(data, w.batch_size or None, shuffle=w.shuffle and not w.sampler, tail=w.tail, **args)
        self.counts = w.grow or w.sets_epoch or w.stream == "set"

    def rows(self, batch):
        if self.w.width > 1:
            return batch
        return batch if self.w.batch_size else [batch]

    def prepare(self):
        if self.w.grow:
            self.data.length = self.w.length(self.count)
        if self.w.sets_epoch and self.sampler is not None:
            self.sampler.set_epoch(self.count)
        if self.w.stream == "set":
            self.data.w.epoch = self.count

    def epoch(self):
        if self.counts:
            if self.open:
                self.count, self.open = self.count + 1, False
            self.prepare()
            return PerEpoch(self)
        return map(self.rows, self.loader)

    def state(self):
        if self.counts:
            return {"loader": self.loader.state_dict(), "epoch": self.count}
        return self.loader.state_dict()

    def load(self, state):
        if not self.counts:
            return self.loader.load_state_dict(state)
        if not isinstance(state, dict) or set(state) != {"loader", "epoch"}:
            raise ValueError("no state of this loop")
        before = self.count
        self.count = state["epoch"]
        self.prepare()
        try:
            self.loader.load_state_dict(state["loader"])
        except ValueError:
            self.count = before
            self.prepare()
            raise
        self.open = False

    def name_epoch(self, epoch):
        self.loader.name_epoch(epoch)

    def close(self):
        self.loader.close()
        self.__dict__.clear()


class Adapter:
    def offer(self):
        return {
            "name": "pullline",
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "workers": (0, 1, 2, 3),
            "worker_kinds": ("thread", "process"),
            "persistent": (False, True),
            "intervals": (1, 2, 3, 100),
            "start_methods": ("fork", "spawn"),
            "fixed_plan": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "tails": ("keep", "drop", "rollover"),
            "codecs": ("pickle", "torch", "json"),
            "draws": ("own", "python", "numpy", "torch", "private python", "private numpy", "private torch"),
            "extras": ("streams", "sticky streams", "trees", "iterator state", "set streams", "growing", "arrays",
                       "payloads", "collating", "failing collate", "getitems", "beside", "asked again", "unbatched",
                       "named epochs", "restarts", "failing states", "samplers", "set_epoch", "set up", "world",
                       "many workers", "adoption"),
            "live_load": "raises",
            "reasons": {},
        }

    def declines(self, w, x):
        if w.ambient and x.worker_kind == "thread" and x.workers:
            return "threads leave the global random streams alone"
        if w.kind in ("iterable", "stateful_iterable") and (w.shuffle or w.tail == "rollover"):
            return "a stream has its own order"
        if not w.batch_size and w.tail == "rollover":
            return "single samples do not roll over"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
