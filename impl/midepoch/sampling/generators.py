"""The random generators that samplers hold: their states, read, checked and restored.

A library trusts the state that it is given: a place beyond a generator's buffer is read from beyond
the buffer. So the fields that say a place are checked before the library sees them.
"""

from __future__ import annotations

import base64
import copy
import random
import struct
from typing import Any, Literal

import numpy as np
import torch

__all__ = ["Kind", "kind_of", "put_state", "state_of", "try_state"]

_WORDS = 624
"""The words of a Mersenne Twister."""

_PLACES = {"MT19937": ("state", "pos", _WORDS), "Philox": (None, "buffer_pos", 4)}
"""The field of a NumPy bit generator's state that holds its place, and its buffer's length."""

Kind = Literal["torch", "numpy", "python"]


def kind_of(value: object) -> Kind | None:
    """Return which kind of random generator ``value`` is, or ``None``.

    >>> kind_of(random.Random(0)), kind_of(3)
    ('python', None)
    """
    if isinstance(value, torch.Generator):
        return "torch"
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return "numpy"
    return "python" if isinstance(value, random.Random) else None


def state_of(value: Any) -> Any:
    """Return the state of a generator as plain JSON types; nothing is drawn."""
    if isinstance(value, torch.Generator):
        return base64.b64encode(value.get_state().cpu().numpy().tobytes()).decode("ascii")
    if isinstance(value, np.random.Generator):
        return _plain(value.bit_generator.state)
    if isinstance(value, np.random.RandomState):
        return _plain(value.get_state(legacy=False))
    return _plain(value.getstate())


def try_state(value: Any, state: Any) -> None:
    """Put ``state`` into a copy of a generator, and raise if it does not fit."""
    trial = value.clone_state() if isinstance(value, torch.Generator) else copy.deepcopy(value)
    put_state(trial, state)


def put_state(value: Any, state: Any) -> None:
    """Restore a generator from a result of ``state_of``."""
    if isinstance(value, torch.Generator):
        data = bytearray(base64.b64decode(state, validate=True))
        if value.device.type == "cpu":
            _check_twister(data)
        value.set_state(torch.frombuffer(data, dtype=torch.uint8))
    elif isinstance(value, np.random.Generator):
        _check_place(state)
        value.bit_generator.state = _arrays(state)
    elif isinstance(value, np.random.RandomState):
        _check_place(state)
        value.set_state(_arrays(state))
    else:
        version, internal, gauss = state
        value.setstate((version, tuple(internal), gauss))


def _check_twister(data: bytearray) -> None:
    """Raise ValueError unless the state of torch's generator counts within its words."""
    left, _, place = struct.unpack_from("<iiq", data, 8)
    # One more number was drawn for each that is not left; nothing was drawn of a new one.
    if (left, place) != (1, 0) and not (0 < place <= _WORDS and left + place == _WORDS + 1):
        raise ValueError(f"{left} words left and the next at {place} of {_WORDS} contradict")


def _check_place(state: Any) -> None:
    """Raise ValueError unless the state of NumPy's generator stands within its buffer."""
    kind = state.get("bit_generator") if isinstance(state, dict) else None
    if type(kind) is not str:
        raise ValueError(f"should be a mapping with a bit_generator, got {state!r:.40}")
    if kind not in _PLACES:
        return
    part, name, length = _PLACES[kind]
    place = (state if part is None else state[part])[name]
    if type(place) is not int or not 0 <= place <= length:
        raise ValueError(f"{name} should be an integer from 0 to {length}, got {place!r:.40}")


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
