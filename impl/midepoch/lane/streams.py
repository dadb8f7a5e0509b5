"""The three global random streams: seeding them, and restoring the caller's.

``seeds.py`` computes the numbers; this file puts them into ``random``, ``numpy.random`` and torch.
"""

from __future__ import annotations

import base64
import copy
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from midepoch.format.seeds import BatchSeeds
from midepoch.lane import numpy_stream

__all__ = [
    "PrivateStreams",
    "capture",
    "generator_kind",
    "generator_state",
    "isolated",
    "one_thread",
    "put_generator_state",
    "seed",
    "try_generator_state",
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


Kind = Literal["torch", "numpy", "python"]


def generator_kind(value: object) -> Kind | None:
    """Return which kind of random generator ``value`` is, or ``None``.

    >>> generator_kind(random.Random(0)), generator_kind(3)
    ('python', None)
    """
    if isinstance(value, torch.Generator):
        return "torch"
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return "numpy"
    return "python" if isinstance(value, random.Random) else None


def generator_state(value: Any) -> Any:
    """Return the state of a generator as plain JSON types; nothing is drawn."""
    if isinstance(value, torch.Generator):
        return base64.b64encode(value.get_state().cpu().numpy().tobytes()).decode("ascii")
    if isinstance(value, np.random.Generator):
        return _plain(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return _plain(value.get_state(legacy=False))
    return _plain(value.getstate())


def try_generator_state(value: Any, state: Any) -> None:
    """Put ``state`` into a copy of a generator, and raise if it does not fit."""
    trial = value.clone_state() if isinstance(value, torch.Generator) else copy.deepcopy(value)
    put_generator_state(trial, state)


def put_generator_state(value: Any, state: Any) -> None:
    """Restore a generator from a result of ``generator_state``."""
    if isinstance(value, torch.Generator):
        data = bytearray(base64.b64decode(state, validate=True))
        value.set_state(torch.frombuffer(data, dtype=torch.uint8))
    elif isinstance(value, np.random.Generator):
        value.bit_generator.state = _arrays(state)
    elif isinstance(value, np.random.RandomState):
        value.set_state(_arrays(state))
    else:
        version, internal, gauss = state
        value.setstate((version, tuple(internal), gauss))


def _plain(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _plain(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_plain(value) for value in tree]
    return tree.tolist() if isinstance(tree, (np.ndarray, np.generic)) else tree


def _arrays(tree: Any) -> Any:
    """Undo ``_plain`` for NumPy's states, in which every list was an array."""
    if isinstance(tree, dict):
        return {key: _arrays(value) for key, value in tree.items()}
    return np.asarray(tree, dtype=np.uint64) if isinstance(tree, list) else tree
