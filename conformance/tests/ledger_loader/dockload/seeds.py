"""Seeds from places, the global streams, and what code in a lane can ask for."""
import contextlib
import hashlib
import random
import threading

import numpy
import torch

_here = threading.local()


def words(root, purpose, *numbers):
    """Four words of 64 bits for a place of use."""
    text = "/".join(["dockload", purpose, str(root), *map(str, numbers)])
    digest = hashlib.sha256(text.encode()).digest()
    return tuple(int.from_bytes(digest[i:i + 8], "big") for i in (0, 8, 16, 24))


def permutation(root, epoch, n):
    """The shuffled order of 0 .. n - 1 in an epoch."""
    order = list(range(n))
    random.Random(words(root, "order", epoch)[0]).shuffle(order)
    return order


def draw_root():
    """A root seed from torch's default generator."""
    return int(torch.empty((), dtype=torch.int64).random_())


def streams():
    """The states of the three global streams."""
    return random.getstate(), numpy.random.get_state(), torch.get_rng_state()


def put_streams(saved):
    random.setstate(saved[0])
    numpy.random.set_state(saved[1])
    torch.set_rng_state(saved[2])


def seed_streams(w):
    random.seed(w[0])
    numpy.random.seed(w[1] >> 32)
    torch.default_generator.manual_seed(w[2] >> 1)


@contextlib.contextmanager
def kept():
    """The caller's global streams are afterwards what they were before."""
    saved = streams()
    try:
        yield
    finally:
        put_streams(saved)


class Place:
    """Seeds the streams for one place after the other, for one lane."""

    def __init__(self, root, ambient, lane, lanes):
        self.root, self.ambient, self.lane, self.lanes = root, ambient, lane, lanes

    def at(self, purpose, *numbers):
        w = words(self.root, purpose, *numbers)
        if self.ambient:
            seed_streams(w)
        _here.seed, _here.source = w[3], None

    def __enter__(self):
        self.before = getattr(_here, "info", None)
        _here.info = (self.lane, self.lanes)
        return self

    def __exit__(self, *_):
        _here.info = self.before
        _here.seed = _here.source = None


def source():
    """The generator (random.Random) of the sample that is being made, or of the batch that is being collated."""
    seed = getattr(_here, "seed", None)
    if seed is None:
        raise RuntimeError("dockload.source() is for code that makes samples or batches")
    if _here.source is None:
        _here.source = random.Random(seed)
    return _here.source


def lane_info():
    """(lane, lanes) of the code that runs, or None outside of lanes."""
    return getattr(_here, "info", None)
