"""The three global random streams: seeding them, and keeping the caller's apart.

``seeds.py`` says which numbers; this file puts them into ``random``, ``numpy.random`` and torch.
"""

from __future__ import annotations

import base64
import copy
import os
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from midepoch.format.seeds import BatchSeeds

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


class NumpyStream(NamedTuple):
    """What ``numpy.random`` draws from."""

    bits: np.random.BitGenerator
    gauss: Any
    """The Gaussian that it keeps beside the generator, in the form of ``get_state``."""


class Streams(NamedTuple):
    """The three global streams at one moment."""

    torch: torch.Tensor
    python: Any
    numpy: NumpyStream


_numpy: Any = np.random
"""Its stubs leave out the two functions about bit generators."""

_rand: Any = _numpy.get_state.__self__
"""The object behind the functions of ``numpy.random``."""


class _StandIn:
    """In a bit generator's place, while this thread reads or puts no more than the Gaussian.

    For all other threads it is the generator.
    """

    def __init__(self, bits: Any) -> None:
        self._bits = bits
        self._thread = threading.get_ident()

    @property  # type: ignore[misc]  # numpy.random.seed asks isinstance
    def __class__(self) -> Any:
        return type(self._bits)

    @property
    def state(self) -> Any:
        if threading.get_ident() != self._thread:
            return self._bits.state
        return {"bit_generator": type(self._bits).__name__, "state": {}}

    @state.setter
    def state(self, value: Any) -> None:
        if threading.get_ident() != self._thread:
            self._bits.state = value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bits, name)


def _gauss(rand: Any, state: Any = None) -> Any:
    """Return the Gaussian that ``rand`` keeps, as a state without the generator's, or put it.

    The generator's state would take NumPy 35 microseconds to copy. Only this attribute lets the
    Gaussian be reached without it: ``set_bit_generator`` drops it.
    """
    bits = rand._bit_generator
    rand._bit_generator = _StandIn(bits)
    try:
        return rand.get_state(legacy=False) if state is None else rand.set_state(state)
    finally:
        rand._bit_generator = bits


def _has_short_way() -> bool:
    """Tell whether this version of NumPy reads and puts the Gaussian in this way."""
    one, other = np.random.RandomState(1), np.random.RandomState(2)
    one.standard_normal()
    expected = one.get_state(legacy=False)
    try:
        found = _gauss(one)
        _gauss(other, found)
        return bool(
            found["has_gauss"] == 1
            and other.standard_normal() == expected["gauss"]
            and other.random_sample() == np.random.RandomState(2).random_sample()
        )
    except Exception:  # a private attribute: each version may refuse it in its own way
        return False


_SHORT = _has_short_way()

_NO_GAUSS = _gauss(np.random.RandomState(0)) if _SHORT else None

_exchanging = threading.RLock()
# A fork while another thread exchanges would leave the child the stand-in, and the lock.
os.register_at_fork(
    before=_exchanging.acquire,
    after_in_parent=_exchanging.release,
    after_in_child=_exchanging.release,
)

_spare: list[np.random.BitGenerator] = []
"""Generators for batches, to be used again: making one takes longer than a batch's seeding."""


def _exchange(numpy: NumpyStream, *, for_good: bool = False) -> NumpyStream:
    """Let ``numpy.random`` draw from ``numpy``; return what it drew from before.

    ``for_good``: that will not be put back, so its Gaussian is not asked for.
    """
    with _exchanging:
        gauss = _NO_GAUSS
        if not for_good:
            gauss = _gauss(_rand) if _SHORT else _rand.get_state(legacy=False)
        before = _numpy.get_bit_generator()
        _numpy.set_bit_generator(numpy.bits)
        if _SHORT:
            if numpy.gauss["has_gauss"]:  # none is there now
                _gauss(_rand, numpy.gauss)
        elif numpy.gauss is not None:
            _rand.set_state(numpy.gauss)
    return NumpyStream(before, gauss)


def _new_numpy() -> NumpyStream:
    """Return a stream of its own for ``numpy.random``, to be seeded."""
    bits = _spare.pop() if _spare else np.random.MT19937(0)
    if bits is _numpy.get_bit_generator():  # left there by loaders in two threads
        bits = np.random.MT19937(0)
    return NumpyStream(bits, _NO_GAUSS)


def seed(seeds: BatchSeeds) -> None:
    """Seed the three global streams as the specification says (SEED-4)."""
    # torch.manual_seed would also walk every accelerator: a hundred times slower, each batch.
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


def _enter(numpy: NumpyStream) -> Streams:
    """Return the caller's streams; NumPy's gives way to ``numpy``. Nothing is drawn (BASIS-5)."""
    return Streams(torch.default_generator.get_state(), random.getstate(), _exchange(numpy))


def _put(streams: Streams, *, for_good: bool = False) -> NumpyStream:
    """Let the global streams be ``streams``; return what NumPy's was."""
    torch.default_generator.set_state(streams.torch)
    random.setstate(streams.python)
    return _exchange(streams.numpy, for_good=for_good)


class isolated:  # noqa: N801 -- used as a function is
    """Put the caller's streams back at the end, whatever was seeded or drawn in between."""

    __slots__ = ("_caller",)

    def __enter__(self) -> None:
        self._caller = _enter(_new_numpy())

    def __exit__(self, *_: object) -> None:
        _spare.append(_put(self._caller, for_good=True).bits)


class one_thread:  # noqa: N801 -- used as a function is
    """Run with one intra-op thread: reductions differ in the last bit with more."""

    __slots__ = ("_threads",)

    def __enter__(self) -> None:
        self._threads = torch.get_num_threads()
        if self._threads != 1:
            torch.set_num_threads(1)

    def __exit__(self, *_: object) -> None:
        if self._threads != 1:
            torch.set_num_threads(self._threads)


class PrivateStreams:
    """Global streams of one's own: in force inside ``active()``, kept apart outside it.

    A sampler that draws from the global streams draws from these, so that its order depends
    on the plan alone and the caller's streams are not moved by it.
    """

    def __init__(self, seeds: BatchSeeds) -> None:
        self._seeds: BatchSeeds | None = seeds
        self._own: Streams | None = None

    def reseed(self, seeds: BatchSeeds) -> None:
        """Start over from ``seeds`` at the next use."""
        self._seeds = seeds

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let the global streams be the private ones."""
        own = self._own
        caller = _enter(_new_numpy() if own is None else own.numpy)
        try:
            if self._seeds is not None:
                seed(self._seeds)
                self._seeds = None
            elif own is not None:
                torch.default_generator.set_state(own.torch)
                random.setstate(own.python)
            yield
        finally:
            state, python = torch.default_generator.get_state(), random.getstate()
            self._own = Streams(state, python, _put(caller))


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
    """Put ``state`` into a copy of a generator, to raise what ``put_generator_state`` would."""
    trial = value.clone_state() if isinstance(value, torch.Generator) else copy.deepcopy(value)
    put_generator_state(trial, state)


def put_generator_state(value: Any, state: Any) -> None:
    """Put a generator back to what ``generator_state`` returned."""
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
    """Undo ``_plain`` for NumPy's states, which hold lists only where arrays were."""
    if isinstance(tree, dict):
        return {key: _arrays(value) for key, value in tree.items()}
    return np.asarray(tree, dtype=np.uint64) if isinstance(tree, list) else tree
