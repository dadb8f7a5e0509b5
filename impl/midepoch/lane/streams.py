"""The three global random streams: seeding them, and restoring the caller's.

``seeds.py`` computes the numbers; this file puts them into ``random``, ``numpy.random`` and torch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch

from midepoch.format.seeds import BatchSeeds
from midepoch.lane import numpy_stream

__all__ = [
    "PrivateStreams",
    "capture",
    "isolated",
    "one_thread",
    "seed",
]


class Streams(NamedTuple):
    """The three global streams at one moment."""

    torch: torch.Tensor
    python: Any
    numpy: numpy_stream.NumpyStream


def _current() -> Streams:
    """Return the global streams as they are; nothing is drawn (BASIS-5)."""
    return Streams(torch.default_generator.get_state(), random.getstate(), numpy_stream.current())


def _put(streams: Streams) -> None:
    """Let the global streams be ``streams``."""
    torch.default_generator.set_state(streams.torch)
    random.setstate(streams.python)
    numpy_stream.put(streams.numpy)


def seed(seeds: BatchSeeds) -> None:
    """Seed the three global streams as the specification says (SEED-4)."""
    # torch.manual_seed also seeds every accelerator, which is a hundred times slower.
    torch.default_generator.manual_seed(seeds.torch)
    random.seed(seeds.python)
    np.random.seed(seeds.numpy)


def capture() -> tuple[Any, Any, Any]:
    """Return the states of the three global streams, to be compared; nothing is drawn."""
    return (
        torch.default_generator.get_state(),
        random.getstate(),
        np.random.get_state(legacy=False),
    )


class isolated:  # noqa: N801 -- used as a function is
    """Restore the caller's streams at the end, whatever the code in between seeds or draws."""

    __slots__ = ("_caller", "_numpy")

    def __enter__(self) -> None:
        self._caller = _current()
        self._numpy = numpy_stream.spare()
        numpy_stream.put(self._numpy)

    def __exit__(self, *_: object) -> None:
        _put(self._caller)
        numpy_stream.add_spare(self._numpy)


class one_thread:  # noqa: N801 -- used as a function is
    """Run with one intra-op thread: with more, reductions differ in the last bit."""

    __slots__ = ("_threads",)

    def __enter__(self) -> None:
        self._threads = torch.get_num_threads()
        if self._threads != 1:
            torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        if self._threads != 1:
            torch.set_num_threads(self._threads)


class PrivateStreams:
    """Global streams for a sampler: active inside ``active()``, and kept apart outside it.

    A sampler that draws from the global streams draws from these. So its order depends on the plan
    alone, and the caller's streams do not move.
    """

    def __init__(self, seeds: BatchSeeds) -> None:
        self._seeds: BatchSeeds | None = seeds
        self._own: Streams | None = None

    def reseed(self, seeds: BatchSeeds) -> None:
        """Restart from ``seeds`` at the next use."""
        self._seeds = seeds

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make the private streams the global ones."""
        caller = _current()
        try:
            if self._own is None:
                numpy_stream.put(numpy_stream.spare())
            else:
                _put(self._own)
            if self._seeds is not None:
                seed(self._seeds)
                self._seeds = None
            yield
        finally:
            self._own = _current()
            _put(caller)
