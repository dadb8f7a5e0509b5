"""The random streams of a batch's place, and the place of the code that runs."""

import contextlib
import hashlib
import random
import types

import numpy as np
import torch

_now = types.SimpleNamespace(lane=0, lanes=1, words=None, generator=None)


def shard_info():
    """(lane, lanes) of the code that runs; (0, 1) outside of a lane."""
    return _now.lane, _now.lanes


def batch_generator():
    """The NumPy generator of the batch that is being made."""
    if _now.words is None:
        raise RuntimeError("batch_generator() is for code that makes a batch")
    if _now.generator is None:
        _now.generator = np.random.Generator(
            np.random.Philox(np.random.SeedSequence(_now.words[4:]))
        )
    return _now.generator


def batch_random():
    """A float of the batch's own generator."""
    return float(batch_generator().random())


def place_words(*place):
    """Return eight words of 32 bits that depend on the place alone."""
    text = "/".join(["tideway"] + [str(part) for part in place])
    return [int(word) for word in np.frombuffer(hashlib.sha256(text.encode()).digest(), "<u4")]


@contextlib.contextmanager
def streams_of(place, lane, lanes, batch=False):
    """Run the dataset's code under the streams of its place, and give the caller's streams back."""
    kept = random.getstate(), np.random.get_state(), torch.default_generator.get_state()
    outer = dict(vars(_now))
    words = place_words(*place)
    _now.lane, _now.lanes, _now.words, _now.generator = lane, lanes, words if batch else None, None
    try:
        random.seed(words[0] | words[1] << 32)
        np.random.seed(words[2:4])
        torch.default_generator.manual_seed(words[4] | (words[5] & 0x7FFFFFFF) << 32)
        yield
    finally:
        random.setstate(kept[0])
        np.random.set_state(kept[1])
        torch.default_generator.set_state(kept[2])
        vars(_now).update(outer)
