"""The stream of ``numpy.random``, put aside and restored without copying its generator's state.

The stream has two parts: a bit generator, which can be swapped, and one cached Gaussian. The public
way to the Gaussian is ``get_state()``. It copies 624 words, which takes as long as everything else
that a small batch needs. This module reads the Gaussian alone, through a private attribute of
NumPy; if a version of NumPy refuses that, it uses the public way. It imports only NumPy, so that
each supported version can be tested without torch.
"""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

import numpy as np

__all__ = ["NumpyStream", "add_spare", "current", "put", "spare"]


class NumpyStream(NamedTuple):
    """The generator from which ``numpy.random`` draws."""

    bits: np.random.BitGenerator
    gauss: float | None
    """The second number of the last pair of Gaussians, if it is still to be drawn."""


_numpy: Any = np.random
"""Its stubs leave out the two functions about bit generators."""

_rand: Any = _numpy.get_state.__self__
"""The object behind the functions of ``numpy.random``."""


class _StandIn:
    """Replaces a bit generator while this thread reads or writes the cached Gaussian.

    Its state is empty, so NumPy has nothing to copy. Other threads see the generator itself.
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


def _state(rand: Any, **changes: Any) -> Any:
    """Return ``rand``'s state without that of its generator, after ``changes`` to it."""
    bits = rand._bit_generator
    rand._bit_generator = _StandIn(bits)
    try:
        state = rand.get_state(legacy=False)
        if changes:
            rand.set_state({**state, **changes})
        return state
    finally:
        rand._bit_generator = bits


def _has_short_way() -> bool:
    """Return whether this version of NumPy reads and writes the Gaussian through ``_StandIn``."""
    one, other = np.random.RandomState(1), np.random.RandomState(2)
    one.standard_normal()
    expected: Any = one.get_state(legacy=False)
    try:
        found = _state(one)
        _state(other, has_gauss=1, gauss=found["gauss"])
        return bool(
            found["has_gauss"] == 1
            and other.standard_normal() == expected["gauss"]
            and other.random_sample() == np.random.RandomState(2).random_sample()
        )
    except Exception:  # a private attribute: each version may refuse it in its own way
        return False


SHORT = _has_short_way()
"""Whether the Gaussian is read and written alone."""

_exchanging = threading.RLock()
# A fork while another thread reads the Gaussian would leave the stand-in to the child.
os.register_at_fork(
    before=_exchanging.acquire,
    after_in_parent=_exchanging.release,
    after_in_child=_exchanging.release,
)


def current() -> NumpyStream:
    """Return the stream as it is; nothing is drawn (BASIS-5)."""
    with _exchanging:
        state = _state(_rand) if SHORT else _rand.get_state(legacy=False)
        gauss = state["gauss"] if state["has_gauss"] else None
        return NumpyStream(_numpy.get_bit_generator(), gauss)


def put(stream: NumpyStream) -> None:
    """Let ``numpy.random`` draw from ``stream``."""
    with _exchanging:
        _numpy.set_bit_generator(stream.bits)  # drops the Gaussian
        if stream.gauss is None:
            return
        if SHORT:
            _state(_rand, has_gauss=1, gauss=stream.gauss)
        else:
            state = _rand.get_state(legacy=False)
            _rand.set_state({**state, "has_gauss": 1, "gauss": stream.gauss})


_spare: list[np.random.BitGenerator] = []
"""Generators for batches, to be used again: making one takes longer than a batch's seeding."""


def spare() -> NumpyStream:
    """Return a stream that nobody uses, to be seeded."""
    bits = _spare.pop() if _spare else np.random.MT19937(0)
    # Loaders in two threads may have left this one in use.
    return NumpyStream(np.random.MT19937(0) if bits is _numpy.get_bit_generator() else bits, None)


def add_spare(stream: NumpyStream) -> None:
    """Keep the generator of a stream that is no longer used."""
    _spare.append(stream.bits)
