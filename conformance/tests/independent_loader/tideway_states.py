"""The fields of a state, its checksum, and what refuses a damaged one."""

import hashlib

import numpy as np
import torch
from tideway_errors import StateError

FORMAT = "tideway/3"
KEYS = {"format", "plan", "epoch", "delivered", "carried", "turn", "lanes", "check"}
LANE_KEYS = {"at", "since", "errors", "done", "has", "dataset", "iterator"}


def _feed(add, value):
    if isinstance(value, dict):
        add(f"{{{len(value)}")
        for key in sorted(value, key=str):
            add(str(key))
            _feed(add, value[key])
    elif isinstance(value, (list, tuple)):
        add(f"[{len(value)}")
        for item in value:
            _feed(add, item)
    elif isinstance(value, (set, frozenset)):
        add(f"<{sorted(map(repr, value))}")
    elif isinstance(value, np.ndarray):
        plain = not value.dtype.hasobject
        content = value.tobytes() if plain else repr(value.tolist()).encode()
        add(f"a{value.dtype.str}{value.shape}{hashlib.sha256(content).hexdigest()}")
    elif isinstance(value, torch.Tensor):
        add(f"t{value.dtype}{tuple(value.shape)}{value.flatten().tolist()!r}")
    elif value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        add(repr(value))
    else:
        add(type(value).__name__)


def checksum(state):
    """A checksum of all of a state but itself, the same after every codec that keeps the values."""
    digest = hashlib.sha256()
    _feed(
        lambda text: digest.update(text.encode("utf-8", "surrogatepass") + b"\0"),
        {key: value for key, value in state.items() if key != "check"},
    )
    return digest.hexdigest()[:24]


def require(condition, what):
    """Raise StateError unless the condition holds."""
    if not condition:
        raise StateError(f"the state is damaged: {what}")


def are_counts(*values):
    """Tell whether all values are integers of at least 0."""
    return all(type(value) is int and value >= 0 for value in values)
