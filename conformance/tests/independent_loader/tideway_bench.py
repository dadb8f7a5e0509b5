"""Small datasets and plays for the demonstrations of the broken variants."""

import itertools
import random

import numpy as np
import tideway
import torch


class Base:
    """A dataset of `n` samples; each is its index and, with `draws`, numbers of all streams."""

    def __init__(self, n=11, lib=tideway, draws=True):
        self.n, self.draws, self.own = n, draws, lib.batch_random

    def row(self, i):
        """Return one sample."""
        if not self.draws:
            return [i]
        return [i, random.random(), float(np.random.rand()), float(torch.rand(())), self.own()]


class Map(Base):
    """Random access without a state."""

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.row(i)


class Counter(Map):
    """Random access with a state: rows count the accesses of their copy."""

    seen = 0

    def __getitem__(self, i):
        row = Map.__getitem__(self, i)
        self.seen += 1
        return [*row, self.seen]

    def state_dict(self):
        """Return the position."""
        return {"seen": self.seen}

    def load_state_dict(self, state):
        """Go on from a position."""
        self.seen = state["seen"]


class Stream(Base):
    """A plain stream."""

    def __init__(self, n=11, lib=tideway, **more):
        Base.__init__(self, n, lib, **more)
        self.info = lib.shard_info

    def __iter__(self):
        lane, lanes = self.info()
        for i in range(lane, self.n, lanes):
            yield self.row(i)


class _It:
    def __init__(self, data, at):
        self.data, self.at = data, at

    def __iter__(self):
        return self

    def __next__(self):
        lane, lanes = self.data.info()
        i = lane + self.at * lanes
        if i >= self.data.n:
            raise StopIteration
        self.at += 1
        self.data.tape.append(i)
        del self.data.tape[:-3]
        return self.data.row(i)


class Cursor(Stream):
    """A Stateful stream that hands out one object, which goes on changing."""

    def __init__(self, n=11, lib=tideway, **more):
        Stream.__init__(self, n, lib, **more)
        self.tape, self.it, self.loaded = [], None, 0

    def __iter__(self):
        self.it, self.loaded = _It(self, self.loaded), 0
        return self.it

    def state_dict(self):
        """Return the position."""
        return {"at": self.it.at if self.it else self.loaded, "tape": self.tape, "t": (1, None, {})}

    def load_state_dict(self, state):
        """Go on from a position."""
        self.loaded, self.tape = state["at"], state["tape"]


class ItState(Cursor):
    """The iterator has the state."""

    state_dict = load_state_dict = None

    def __iter__(self):
        return _StIt(self, 0)


class _StIt(_It):
    def state_dict(self):
        """Return the position."""
        return {"at": self.at}

    def load_state_dict(self, state):
        """Go on from a position."""
        self.at = state["at"]


def other_streams(k=0):
    """Seed the caller's streams otherwise."""
    random.seed(900 + k)
    np.random.seed(900 + k)
    torch.manual_seed(900 + k)


def epoch(loader, limit=None):
    """Return the batches of one epoch, or its first ones, as a list."""
    return list(itertools.islice(iter(loader), limit))


def epochs(loader, count):
    """Return the batches of some epochs."""
    return [epoch(loader) for _ in range(count)]


def rest(make, k, e=0, count=2, again=None):
    """Deliver e epochs and k batches, save, load in a fresh loader, play on.

    With `again`, save and load once more after so many batches.
    """
    loader = make()
    for _ in range(e):
        epoch(loader)
    head = []
    for restart, batches in enumerate([k] if again is None else [k, again]):
        head += epoch(loader, batches)
        state = loader.state_dict()
        loader.close()
        other_streams(k + restart)
        loader = make()
        loader.load_state_dict(state)
    first, *others = epochs(loader, count)
    loader.close()
    return [head + first, *others]


def verdict(want, got):
    """Return what the sound loader gives, what the variant gives, and whether they differ."""
    return {"differ": want != got, "sound": want, "variant": got}
