"""Random streams, and what the code that makes a batch may ask about its place."""
import collections
import contextlib
import random
import threading

import numpy
import torch

from .order import words

_here = threading.local()

Lane = collections.namedtuple("Lane", "number count epoch")


def seed_streams(w):
    """Seeds the three global streams from four words."""
    torch.default_generator.manual_seed(w[0] >> 1)
    random.seed(w[1])
    numpy.random.seed([w[2] >> 32, w[2] & 0xFFFFFFFF, w[3] >> 32, w[3] & 0xFFFFFFFF])


def capture():
    return random.getstate(), numpy.random.get_state(), torch.default_generator.get_state()


def restore(streams):
    random.setstate(streams[0])
    numpy.random.set_state(streams[1])
    torch.default_generator.set_state(streams[2])


@contextlib.contextmanager
def apart(private=None):
    """Code within draws from streams of its own: private is a list with their states, or None."""
    outer = capture()
    try:
        if private:
            restore(private[0])
        yield
    finally:
        if private is not None:
            private[:] = [capture()]
        restore(outer)


@contextlib.contextmanager
def at(lane=None, place=None):
    """Code within runs for a lane, and makes something at a place (None: makes no batch)."""
    before = getattr(_here, "lane", None), getattr(_here, "place", None), getattr(_here, "rng", None)
    _here.lane, _here.place, _here.rng = lane, place, None
    try:
        yield
    finally:
        _here.lane, _here.place, _here.rng = before


def move(place):
    """Within at: the next sample of the batch."""
    _here.place, _here.rng = place, None


def lane():
    """The lane whose code asks: its number, how many there are, and the epoch."""
    here = getattr(_here, "lane", None)
    return here if here is not None else Lane(0, 1, 0)


def rng():
    """The loader's own source: a NumPy generator for the sample (or the collate) that is being made."""
    place = getattr(_here, "place", None)
    if place is None:
        raise RuntimeError("carousel.rng() has numbers only while a sample or a batch is made")
    if _here.rng is None:
        _here.rng = numpy.random.Generator(numpy.random.PCG64(list(words("own", *place))))
    return _here.rng
