"""The place at which a batch is made: who makes it, and its random numbers."""
import hashlib
import random
import threading
from contextlib import contextmanager

import numpy
import torch

_here = threading.local()


def derive(*parts):
    """256 bits that depend on every part and on nothing else."""
    text = "pullline|" + "|".join(map(str, parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")


class Place:
    """What a dataset may ask for: its lane, the number of lanes, the epoch, and a generator."""

    __slots__ = ("lane", "lanes", "epoch", "rng", "seed")

    def __init__(self, lane, lanes, epoch, seed):
        self.lane, self.lanes, self.epoch, self.seed = lane, lanes, epoch, seed
        self.rng = random.Random(seed)


def here():
    """The place of the batch that this thread is making, or None."""
    return getattr(_here, "place", None)


def draw():
    """A float in [0, 1) of the batch's own generator: the loader's documented random source."""
    return here().rng.random()


def _seed_globals(seed):
    torch.default_generator.manual_seed((seed >> 192) & (2**63 - 1))
    random.seed(seed & (2**128 - 1))
    numpy.random.seed((seed >> 128) & (2**32 - 1))


@contextmanager
def globals_kept():
    """The caller's global streams are the same afterwards."""
    kept = random.getstate(), numpy.random.get_state(), torch.default_generator.get_state()
    try:
        yield
    finally:
        random.setstate(kept[0])
        numpy.random.set_state(kept[1])
        torch.default_generator.set_state(kept[2])


@contextmanager
def at(place, streams):
    """Run code at a place.  streams: "scoped" seeds the global streams and puts them back, "owned"
    seeds them (a process of the loader's own), "shared" leaves them alone (threads)."""
    before = here()
    _here.place = place
    try:
        if streams == "scoped":
            with globals_kept():
                _seed_globals(place.seed)
                yield
        else:
            if streams == "owned":
                _seed_globals(place.seed)
            yield
    finally:
        _here.place = before
