"""Reaches Grain's ``DataLoader``, as its guide does.

``IndexSampler`` shuffles, ``RandomMap`` makes the rows, and ``Batch`` comes last. Each worker makes
batches of its own, so their number is part of the plan. A sampler of several epochs lets batches
run across their ends: the session has a loader for each, and their seeds are an epoch's length
apart, because elements draw by the sum of seed and index. The state is the iterator's, with the
epoch beside it. For rows in memory ``ReadOptions`` recommends ``num_threads=0``.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import itertools

import grain


class Numbers:
    """The samples' numbers, as a data source."""

    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return f"Numbers({self.n})"

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return i


class Rows(grain.transforms.RandomMap):
    """Makes a row of an index, with the random generator that Grain gives to each element."""

    def __init__(self, w):
        self.w = w

    def random_map(self, element, rng):
        return self.w.row(int(element), rng.random)


class Session:
    """One life of the loader: an iterator for each epoch."""

    number, iterator, ended = -1, None, False

    def __init__(self, w, x):
        self.w, self.x, self.going_on = w, x, False

    def begin(self, number):
        w, x = self.w, self.x
        self.close()
        sampler = grain.samplers.IndexSampler(
            w.n, grain.sharding.NoSharding(), w.shuffle, num_epochs=1, seed=w.seed + number * w.n
        )
        made = list if w.width == 1 else None
        batched = grain.transforms.Batch(w.batch_size, w.tail == "drop", made)
        loader = grain.DataLoader(
            data_source=Numbers(w.n),
            sampler=sampler,
            operations=[Rows(w), batched],
            worker_count=x.workers,
            worker_buffer_size=1 if x.prefetch is None else x.prefetch,
            read_options=grain.ReadOptions(num_threads=0),
        )
        self.number, self.iterator, self.ended = number, iter(loader), False

    def epoch(self):
        if not self.going_on:
            self.begin(self.number + 1)
        return map(Session.advance, itertools.repeat(self))

    def advance(self):
        self.going_on = False
        if (batch := next(self.iterator, None)) is None:
            self.ended = True
            raise StopIteration
        return batch

    def state(self):
        if self.iterator is None or self.ended:  # at an epoch's end, a user saves the next one
            self.begin(self.number + 1)
            self.going_on = True
        return {"epoch": self.number, "iterator": self.iterator.get_state()}

    def load(self, state):
        self.begin(state["epoch"])
        self.iterator.set_state(state["iterator"])
        self.going_on = True

    def close(self):
        self.iterator = None


class Adapter:
    """Offers random-access datasets under any number of spawned workers."""

    def offer(self):
        foreign = "it reads no torch dataset: its sources are random access"
        return {
            "name": "grain-loader",
            "package": "grain",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own",),
            "codecs": ("pickle",),
            "start_methods": ("spawn",),
            "tails": ("keep", "drop"),
            "extras": ("arrays",),
            "fork_safe": False,
            "live_load": "applies",
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), foreign),
                **dict.fromkeys(("python", "numpy", "torch"), "elements are given a generator"),
                "fixed_plan": "each worker makes batches of its own records",
                **dict.fromkeys(("intervals", "persistent", "restarts"), "it has no such setting"),
            },
        }

    def declines(self, w, x):
        return "the buffer is a worker's" if not x.workers and x.prefetch is not None else None

    def prepare(self, w, root): ...

    def open(self, w, x, root):
        return Session(w, x)
