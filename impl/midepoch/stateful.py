"""The Stateful protocol: objects with ``state_dict`` and ``load_state_dict``, and frozen states."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

__all__ = ["Frozen", "freeze", "freeze_states", "is_stateful", "load_states", "thaw"]


class Frozen(bytes):
    """A user's state tree, serialised: a value that nothing can change any more."""

    __slots__ = ()


def is_stateful(value: object) -> bool:
    """Tell whether ``value`` has the two methods of the Stateful protocol."""
    return callable(getattr(value, "state_dict", None)) and callable(
        getattr(value, "load_state_dict", None)
    )


def freeze(tree: Any) -> Frozen:
    """Serialise a user's state tree, so that later changes to it are not seen (STATE-1).

    >>> tree = {"seen": [1, 2]}
    >>> frozen = freeze(tree)
    >>> tree["seen"].append(3)
    >>> thaw(frozen)
    {'seen': [1, 2]}
    """
    return Frozen(pickle.dumps(tree, protocol=5))


def thaw(frozen: Frozen) -> Any:
    """Return a new tree, equal in value and type to the frozen one (STATE-6).

    Callers pass only bytes that ``freeze`` made in this run: loaded bytes are never unpickled.
    """
    return pickle.loads(frozen)


def freeze_states(objects: Mapping[str, Any]) -> dict[str, Frozen]:
    """Return the frozen states of the objects that have one, by their slots."""
    return {
        slot: freeze(value.state_dict()) for slot, value in objects.items() if is_stateful(value)
    }


def load_states(objects: Mapping[str, Any], states: Mapping[str, Frozen]) -> None:
    """Load frozen states into the objects of the same slots, in the objects' order."""
    for slot, value in objects.items():
        if slot in states:
            value.load_state_dict(thaw(states[slot]))
