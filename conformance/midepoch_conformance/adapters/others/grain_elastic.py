"""Reaches Grain's ``ElasticIterator``, whose state resumes under another number of shards.

Its docstring asks for a ``MapDataset`` without batches and shards, and divides global batches
among the shards. It drops what does not fill a batch, and lets batches run across the ends of
repetitions, so there is one iterator for each epoch, with the epoch added to the seed and kept
beside the state. Rows are made in memory, for which ``ReadOptions`` recommends ``num_threads=0``.
"""

# The adapter protocol documents the methods. Nothing is typed: an adapter imports nothing of the
# suite, and the scripts of failures carry its lines.
# ruff: noqa: D102

import grain


class Rows(grain.transforms.RandomMap):
    """Makes a row of an index, with the random generator that Grain gives to each element."""

    def __init__(self, w):
        self.w = w

    def random_map(self, element, rng):
        return self.w.row(int(element), rng.random)


def rows_of(columns):
    """Return the rows of a batch, of which Grain made an array for each column."""
    return [list(row) for row in zip(*columns)]  # noqa: B905 - all have the batch's length


class Session:
    """One life of the loader: an iterator for each epoch."""

    number, iterator = -1, None

    def __init__(self, w, x):
        self.w, self.x, self.going_on = w, x, False

    def begin(self, number):
        w, x = self.w, self.x
        self.close()
        ds = grain.MapDataset.range(w.n).seed(w.seed + number)
        ds = (ds.shuffle() if w.shuffle else ds).random_map(Rows(w))
        workers = grain.MultiprocessingOptions(x.workers, x.prefetch or 1) if x.workers else None
        self.number = number
        self.iterator = grain.experimental.ElasticIterator(
            ds,
            w.batch_size,
            grain.sharding.ShardOptions(x.rank, x.world),
            read_options=grain.ReadOptions(num_threads=0),
            multiprocessing_options=workers,
        )

    def epoch(self):
        if not self.going_on:
            self.begin(self.number + 1)
        self.going_on = False
        return map(rows_of, iter(self.iterator))

    def state(self):
        if self.iterator is None:
            self.begin(0)
            self.going_on = True
        return {"epoch": self.number, "iterator": self.iterator.get_state()}

    def load(self, state):
        self.begin(state["epoch"])
        self.iterator.set_state(state["iterator"])
        self.going_on = True

    def close(self):
        if self.iterator is not None:
            self.iterator.close()
        self.iterator = None


class Adapter:
    """Offers random-access datasets whose global batches several ranks share."""

    def offer(self):
        own = "its documentation has elements draw from the generator handed to them"
        foreign = "it takes a MapDataset alone"
        return {
            "name": "grain-elastic",
            "package": "grain",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own",),
            "codecs": ("json", "pickle"),
            "fixed_plan": ("map",),
            "start_methods": ("spawn",),
            "tails": ("drop",),
            "extras": ("world", "shared", "cut anew"),
            "state_scope": "global",
            "fork_safe": False,
            "reasons": {
                **dict.fromkeys(("iterable", "stateful_iterable", "stateful_map"), foreign),
                **dict.fromkeys(("python", "numpy", "torch"), own),
                "keep": "it drops a batch that is not full",
                "intervals": "it has no snapshot interval",
                "persistent": "its workers live as long as an iterator",
                "restarts": "it has no means to replace a worker",
                "rollover": "it drops a batch that is not full",
            },
        }

    def declines(self, w, x):
        if x.workers == 0 and x.prefetch is not None:
            return "the buffer is a worker's"
        return None

    def prepare(self, w, root):
        pass

    def open(self, w, x, root):
        return Session(w, x)
