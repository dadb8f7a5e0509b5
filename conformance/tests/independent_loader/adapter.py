"""The adapter of the loader tideway; broken variants subclass it with another `lib`."""

import tideway


class Rows:
    """Random access without a state."""

    def __init__(self, w, lib):
        self.w, self.draw = w, lib.batch_random

    def __len__(self):
        return self.w.n

    def __getitem__(self, i):
        return self.w.row(i, self.draw)


class ManyRows(Rows):
    """Random access to many samples at once."""

    def __getitems__(self, indices):
        return [self[i] for i in indices]


class StatefulRows(Rows):
    """Random access with a state, which counts or draws."""

    def __init__(self, w, lib):
        Rows.__init__(self, w, lib)
        self.source = w.source(0, 1, self.draw)

    def __getitem__(self, i):
        return self.source[i]

    def state_dict(self):
        """Return the state of what it keeps."""
        return self.source.state_dict()

    def load_state_dict(self, state):
        """Take a state back."""
        self.source.load_state_dict(state)


class Stream:
    """A plain stream."""

    def __init__(self, w, lib):
        self.w, self.draw, self.info = w, lib.batch_random, lib.shard_info

    def __iter__(self):
        return iter(self.w.stream_of(*self.info(), self.draw))


class StatefulStream:
    """A stream with a state, which keeps one source for all its passes."""

    def __init__(self, w, lib):
        self.w, self.draw, self.info, self.source = w, lib.batch_random, lib.shard_info, None

    def its(self):
        """Return the source, which is made when it is needed."""
        if self.source is None:
            self.source = self.w.source(*self.info(), self.draw)
        return self.source

    def __iter__(self):
        return iter(self.its())

    def state_dict(self):
        """Return the state of what it keeps."""
        return self.its().state_dict()

    def load_state_dict(self, state):
        """Take a state back."""
        self.its().load_state_dict(state)


class IteratorState:
    """A stream whose iterator has the state."""

    def __init__(self, w, lib):
        self.w, self.draw, self.info, self.passes = w, lib.batch_random, lib.shard_info, 0

    def __iter__(self):
        self.passes += 1
        return self.w.iterator(*self.info(), self.draw)


class BothStates(IteratorState):
    """A stream that has a state beside its iterator's."""

    def state_dict(self):
        """Return the state of what it keeps."""
        return {"passes": self.passes}

    def load_state_dict(self, state):
        """Take a state back."""
        self.passes = state["passes"] - 1


def set_up(data, lane, lanes):
    """Tell a lane's copy of the dataset which part is its own."""
    data.w.part = (lane, lanes)


class Collated:
    """Adds what the workload draws to the end of each row."""

    def __init__(self, w):
        self.w = w

    def __call__(self, rows):
        return [list(row) + list(self.w.drawn()) for row in rows]


class Session:
    """A loader for one workload, as the suite plays it."""

    def __init__(self, w, x, lib):
        if w.kind == "map":
            data = (ManyRows if w.getitems else Rows)(w, lib)
        elif w.kind == "stateful_map":
            data = StatefulRows(w, lib)
        elif w.kind == "iterable":
            data = Stream(w, lib)
        elif w.form == "iterator state":
            data = IteratorState(w, lib)
        elif w.form == "both states":
            data = BothStates(w, lib)
        else:
            data = StatefulStream(w, lib)
        collate = None
        if w.collated:
            collate = Collated(w)
        elif w.fails_in == "collate_fn":
            collate = w.collate
        args = {
            "shuffle": w.shuffle,
            "seed": None if w.adopts else w.seed,
            "tail": w.tail,
            "workers": x.workers,
            "prefetch": x.prefetch,
            "snapshot_every": x.interval,
            "persistent": x.persistent,
            "collate": collate,
            "context": x.start_method,
        }
        if w.kind != "map" and x.lanes:
            args["lanes"] = x.lanes
        if w.stream == "divided":
            args["setup"] = set_up
        self.loader = lib.Loader(data, w.batch_size or None, **args)
        self.single = not w.batch_size
        self.state, self.load = self.loader.state_dict, self.loader.load_state_dict
        self.name_epoch = self.loader.set_epoch

    def rows(self, batch):
        """Return the samples of a batch."""
        return [batch] if self.single else batch

    def epoch(self):
        """Return an iterator of one epoch's batches."""
        return map(self.rows, iter(self.loader))

    def close(self):
        """End the workers and let go of the loader."""
        self.loader.close()
        self.__dict__.clear()


class Adapter:
    """Offers the loader to the suite."""

    lib = tideway

    def offer(self):
        """Return what the loader can do."""
        return {
            "name": "tideway",
            "workers": (0, 1, 2, 3),
            "fixed_plan": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "tails": ("keep", "drop", "rollover"),
            "draws": ("own", "python", "numpy", "torch"),
            "live_load": "raises",
            "extras": (
                "streams",
                "sticky streams",
                "trees",
                "iterator state",
                "arrays",
                "payloads",
                "collating",
                "failing collate",
                "getitems",
                "beside",
                "asked again",
                "many workers",
                "adoption",
                "unbatched",
                "set up",
                "named epochs",
                "failing states",
            ),
            "kinds": ("map", "iterable", "stateful_iterable", "stateful_map"),
            "codecs": ("pickle", "torch", "json"),
            "intervals": (1, 2, 3, 100),
        }

    def declines(self, w, x):
        """Return why a cell is not offered, or None."""
        if w.shuffle and w.kind not in ("map", "stateful_map"):
            return "streams are not shuffled"
        if w.tail == "rollover" and w.kind not in ("map", "stateful_map"):
            return "streams do not roll over"
        if w.sampler:
            return "no samplers of the user's"
        if x.world > 1 or w.ranks:
            return "one rank only"
        return None

    def prepare(self, w, root):
        """Do nothing: all data are made in memory."""

    def open(self, w, x, root):
        """Return a session with a new loader."""
        return Session(w, x, self.lib)
