"""Reaches Google's Grain through its ``Dataset`` API, as its checkpointing guide does.

The steps are random access, shuffle, batch, repeat, iterate and ``mp_prefetch``. All epochs are
one stream. The index that ``map_with_index`` gives to each batch tells the end of an epoch, so the
state is ``DatasetIterator.get_state()`` and nothing beside it. Rows are made in memory, for which
``ReadOptions`` recommends ``num_threads=0``.
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


class Indexed(grain.transforms.MapWithIndex):
    """Puts a batch's index in the whole stream before it."""

    def map_with_index(self, index, element):
        return index, element


class Session:
    """One life of the loader: one iterator."""

    def __init__(self, w, x):
        ds = grain.MapDataset.range(w.n).seed(w.seed)
        ds = (ds.shuffle() if w.shuffle else ds).random_map(Rows(w))
        made = list if w.width == 1 else None
        ds = ds.batch(w.batch_size, drop_remainder=w.tail == "drop", batch_fn=made)
        self.length = len(ds)
        ds = ds.repeat(w.epochs).map_with_index(Indexed())
        ds = ds.to_iter_dataset(grain.ReadOptions(num_threads=0))
        buffer = 1 if x.prefetch is None else x.prefetch
        self.iterator = iter(ds.mp_prefetch(grain.MultiprocessingOptions(x.workers, buffer)))

    def epoch(self):
        for index, batch in self.iterator:
            yield batch
            if (index + 1) % self.length == 0:
                return

    def state(self):
        return self.iterator.get_state()

    def load(self, state):
        self.iterator.set_state(state)

    def close(self):
        self.iterator.close()


class Adapter:
    """Offers random-access datasets under any number of spawned workers."""

    def offer(self):
        return {
            "name": "grain",
            "package": "grain",
            "kinds": ("map",),
            "workers": (0, 1, 2, 3, 5),
            "draws": ("own",),
            "boundary": "stream",
            "codecs": ("json", "pickle"),
            "fixed_plan": ("map",),
            "start_methods": ("spawn",),
            "tails": ("keep", "drop"),
            "live_load": "applies",
            "extras": ("arrays",),
            "fork_safe": False,
            "reasons": {
                "iterable": "it reads no torch dataset: a stream of its own is an IterDataset",
                "stateful_iterable": "it reads no torch dataset and asks none for a state",
                "stateful_map": "it reads no torch dataset and asks none for a state",
                "python": "its documentation has elements draw from the generator handed to them",
                "numpy": "its documentation has elements draw from the generator handed to them",
                "torch": "its documentation has elements draw from the generator handed to them",
                "intervals": "it has no snapshot interval",
                "persistent": "its workers live as long as the iterator",
                "orders": "its batches come in order",
                "restarts": "it has no means to replace a worker",
                "thread": "its workers are processes",
                "rollover": "it keeps or drops an incomplete batch",
                "fork": "it starts its workers by spawn alone",
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
