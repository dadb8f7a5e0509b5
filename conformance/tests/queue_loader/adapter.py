"""carousel under the conformance suite."""
import torch

import carousel


def draw():
    return float(carousel.rng().random())


def set_part(dataset, lane):
    dataset.w.part = lane.number, lane.count


class Collate:
    def __init__(self, w):
        self.w = w

    def __call__(self, rows):
        if self.w.batch_size == 0 and not self.w.gives_batches:
            return self.one(rows)
        return [self.one(row) for row in rows]

    def one(self, row):
        return [*row, *self.w.drawn(draw)]


class Rows:
    def __init__(self, w):
        self.w, self.n = w, w.n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.w.row(i, draw)


class RowsMany(Rows):
    def __getitems__(self, keys):
        return [self.w.row(i, draw) for i in keys]


class StatefulRows:
    source = None

    def __init__(self, w):
        self.w, self.n = w, w.n

    def __len__(self):
        return self.n

    def inner(self):
        if self.source is None:
            lane = carousel.lane()
            self.source = self.w.source(lane.number, lane.count, draw)
        return self.source

    def __getitem__(self, i):
        return self.inner()[i]

    def state_dict(self):
        return self.inner().state_dict()

    def load_state_dict(self, state):
        self.inner().load_state_dict(state)


class StatefulRowsMany(StatefulRows):
    def __getitems__(self, keys):
        return [self.inner()[i] for i in keys]


class Stream:
    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        lane = carousel.lane()
        return iter(self.w.stream_of(lane.number, lane.count, draw))


class OwnStream:
    rows = None

    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        lane = carousel.lane()
        self.rows = iter(self.w.stream_of(lane.number, lane.count, draw))
        return self

    def __next__(self):
        return next(self.rows)


class StatefulStream:
    source = None

    def __init__(self, w):
        self.w = w

    def inner(self):
        if self.source is None:
            lane = carousel.lane()
            self.source = self.w.source(lane.number, lane.count, draw)
        return self.source

    def __iter__(self):
        self.w.note("iter")
        return iter(self.inner())

    def state_dict(self):
        return self.inner().state_dict()

    def load_state_dict(self, state):
        self.inner().load_state_dict(state)


class StatefulOwnStream(StatefulStream):
    rows = None

    def __iter__(self):
        self.w.note("iter")
        self.rows = iter(self.inner())
        return self

    def __next__(self):
        return next(self.rows)


class IteratorState:
    def __init__(self, w):
        self.w = w

    def __iter__(self):
        self.w.note("iter")
        lane = carousel.lane()
        return self.w.iterator(lane.number, lane.count, draw)


class BothStates(IteratorState):
    passes = 0

    def __iter__(self):
        self.passes += 1
        return super().__iter__()

    def state_dict(self):
        return self.w.dataset_state(self.passes)

    def load_state_dict(self, state):
        self.passes = self.w.dataset_position(state) - 1  # iter follows, and counts it again


def make_dataset(w):
    if w.kind == "map":
        return RowsMany(w) if w.getitems else Rows(w)
    if w.kind == "stateful_map":
        return StatefulRowsMany(w) if w.getitems else StatefulRows(w)
    if w.form == "own iterator":
        return OwnStream(w)
    if w.form == "stateful own iterator":
        return StatefulOwnStream(w)
    if w.form == "iterator state":
        return IteratorState(w)
    if w.form == "both states":
        return BothStates(w)
    return StatefulStream(w) if w.kind == "stateful_iterable" else Stream(w)


def make_sampler(w, x, dataset):
    data = torch.utils.data
    generator = torch.Generator().manual_seed(w.seed)
    if w.sampler == "random":
        return data.RandomSampler(dataset, generator=generator)
    if w.sampler == "replacement":
        return data.RandomSampler(dataset, replacement=True, generator=generator)
    if w.sampler == "subset":
        return data.SubsetRandomSampler(w.subset, generator=generator)
    if w.sampler == "weighted":
        return data.WeightedRandomSampler(w.weights, len(w.weights), generator=generator)
    if w.sampler == "distributed":
        return data.DistributedSampler(dataset, num_replicas=x.world, rank=x.rank, seed=w.seed)
    return w.order()


def one_row(sample):
    return [sample]


class Session:
    def __init__(self, w, x):
        self.w, self.dataset, self.sampler = w, make_dataset(w), None
        args = {"batch_size": w.batch_size or None, "shuffle": w.shuffle, "tail": w.tail, "interval": x.interval,
                "workers": x.workers, "persistent": x.persistent, "replace": x.restarts or 0,
                "lanes": None if x.lanes is None else max(1, x.lanes), "seed": None if w.adopts else w.seed}
        if x.prefetch is not None:
            args["prefetch"] = max(1, x.prefetch)
        if x.workers:
            args["method"] = "thread" if x.worker_kind == "thread" else x.start_method
        self.lone = not w.batch_size and not w.gives_batches
        if w.fails_in == "collate_fn":
            args["collate_fn"] = w.collate
        elif w.collated:
            args["collate_fn"] = Collate(w)
        elif w.width <= 1 and not self.lone:
            args["collate_fn"] = list
        if w.stream == "divided":
            args["setup"] = set_part
        if w.sampler:
            self.sampler = make_sampler(w, x, self.dataset)
            args["shuffle"] = False
            args["batch_sampler" if w.gives_batches else "sampler"] = self.sampler
        self.loader = carousel.Loader(self.dataset, **args)

    def epoch(self):
        coming = self.loader.next_epoch
        if self.w.sets_epoch and self.w.sampler:
            self.sampler.set_epoch(coming)
        if self.w.stream == "set":
            self.w.epoch = coming
        if self.w.grow:
            self.dataset.n = self.w.length(coming)
        batches = iter(self.loader)
        return map(one_row, batches) if self.lone else batches

    def state(self):
        return self.loader.state_dict()

    def load(self, state):
        if self.w.grow:
            n = self.dataset.n
            try:
                self.dataset.n = self.w.length(carousel.peek(state)[0])
                self.loader.load_state_dict(state)
            except BaseException:
                self.dataset.n = n
                raise
        else:
            self.loader.load_state_dict(state)

    def name_epoch(self, epoch):
        self.loader.set_epoch(epoch)

    def close(self):
        self.loader.close()


class Adapter:
    def offer(self):
        return {
            "name": "carousel",
            "workers": (0, 1, 2, 3),
            "fixed_plan": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "tails": ("keep", "drop", "rollover"),
            "draws": ("own", "python", "numpy", "torch", "private python", "private numpy", "private torch"),
            "worker_kinds": ("process", "thread"),
            "intervals": (1, 3, 100),
            "persistent": (False, True),
            "live_load": "raises",
            "extras": ("streams", "sticky streams", "trees", "iterator state", "samplers", "set_epoch", "set streams", "growing",
                       "arrays", "payloads", "collating", "failing collate", "getitems", "beside", "asked again", "many workers",
                       "unbatched", "set up", "named epochs", "restarts", "adoption", "failing states"),
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "codecs": ("pickle", "torch", "json"),
            "start_methods": ("fork", "spawn", "forkserver"),
            "reasons": {
                "shuffled streams": "carousel has no shuffle buffer",
                "orders": "carousel delivers in order only",
                "unordered states": "carousel delivers in order only",
                "world": "carousel deals nothing to ranks; a user's DistributedSampler is compared by its rank at a load",
                "shared": "carousel does not divide batches between ranks",
                "cut anew": "carousel does not divide batches between ranks",
                "dealt": "carousel does not deal lanes to ranks",
                "process group": "carousel knows no process group",
                "replay checks": "carousel compares indices, and not the content of samples",
                "skipping": "carousel delivers the empty rest of an epoch always",
            },
        }

    def declines(self, w, x):
        if x.worker_kind == "thread" and x.workers and set(w.ambient) - {"own"}:
            return "worker threads share the global random streams, so carousel does not seed them there"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
