"""Damaged states, made on purpose: edited in place, without a part, or no state at all."""

from __future__ import annotations

import contextlib
import enum
import json
import types
from typing import Any

__all__ = ["ADDED", "BOGUS", "ITEMS", "NoSuchPart", "bogus", "cut", "edit", "path"]

BOGUS = (
    "none", "empty", "list", "text", "number", "foreign", "no_items", "no_text", "zero",
)  # fmt: skip
"""The names of the values that ``load_bogus`` loads."""


ITEMS = 1000
"""The number of the first part that is an item of a list; entries of mappings have lower ones."""

ADDED = "added by the suite"
"""What :func:`edit` adds to each mapping, list and set."""


class NoSuchPart(Exception):  # noqa: N818 - it reports that no part is left to cut
    """A state has fewer parts than asked for."""


def bogus(name: str, codec: str) -> Any:
    """Return a value that is no state; if states are bytes, the empty and the foreign one are."""
    if codec == "bytes" and name in ("empty", "foreign"):
        return b"" if name == "empty" else b"no state of any loader"
    return {
        "none": None,
        "empty": {},
        "list": [1, 2, 3],
        "text": "no state",
        "number": 7,
        "no_items": [],
        "no_text": "",
        "zero": 0,
        "foreign": {"model": {"weight": [0.5, 1.5]}, "optimizer": None},
    }[name]


def path(state: Any, part: int) -> list[Any] | None:
    """Return the keys that lead to part number ``part`` of ``state``; None if there are none.

    Example:
        >>> path({"plan": {"seed": 1}, "done": 2}, 1)
        ['plan', 'seed']
    """
    if isinstance(state, (bytes, bytearray)):
        try:
            return path(json.loads(state), part)
        except ValueError:
            return None
    place = _place(state, part)
    if place is None or any(type(key) not in (str, int) for key in place[1]):
        return None
    return place[1]


def cut(state: Any, part: int) -> Any:
    """Return ``state`` without part number ``part``: an entry of a mapping, counted depth first.

    From :data:`ITEMS` on it is an item of a list. A negative number counts from the last entry.
    Bytes are cut as the JSON that they hold. If they hold no JSON, part 0 is their second half.

    Raises:
        NoSuchPart: there are fewer parts.
    """
    if isinstance(state, (bytes, bytearray)):
        return _cut_bytes(bytes(state), part)
    place = _place(state, part)
    if place is None:
        raise NoSuchPart(part)
    holder, keys = place
    del holder[keys[-1]]
    return state


def _cut_bytes(state: bytes, part: int) -> bytes:
    try:
        tree = json.loads(state)
    except ValueError:
        if part or not state:
            raise NoSuchPart(part) from None
        return state[: len(state) // 2]
    return json.dumps(cut(tree, part)).encode()


def _place(state: Any, part: int) -> tuple[Any, list[Any]] | None:
    """Return the holder of a part and the keys that lead to it; None if there are fewer parts."""
    number, holder = (part - ITEMS, list) if part >= ITEMS else (part, dict)
    places = _places(state, holder, [], set())
    return places[number] if -len(places) <= number < len(places) else None


def _places(
    node: Any, holder: type, above: list[Any], seen: set[int]
) -> list[tuple[Any, list[Any]]]:
    """Return the places of all parts that mappings hold, or lists, depth first."""
    if id(node) in seen or not isinstance(node, (dict, list, tuple)):
        return []
    seen.add(id(node))
    found: list[tuple[Any, list[Any]]] = []
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        found += [(node, [*above, key])] if isinstance(node, holder) else []
        found += _places(value, holder, [*above, key], seen)
    return found


def edit(state: Any, spared: int = 0) -> None:
    """Change everything that can be changed in place: mappings, lists, sets, buffers, objects.

    Numbers and texts are replaced in their container; tensors and arrays are changed in place. The
    first ``spared`` levels of mappings, lists and tuples stay as they are.

    Example:
        >>> state = {"epoch": 1, "lanes": {"next": 1}}
        >>> edit(state, spared=1)
        >>> state
        {'epoch': 1, 'lanes': {'next': 2, 'added by the suite': 1}}
    """
    if not spared:
        _edit(state, {})
    elif isinstance(state, (dict, list, tuple)):
        for part in state.values() if isinstance(state, dict) else state:
            edit(part, spared - 1)


def _edit(node: Any, seen: dict[int, Any]) -> None:
    if id(node) in seen:
        return
    seen[id(node)] = node
    # A user cannot change a frozen or read-only value either.
    with contextlib.suppress(Exception):
        if isinstance(node, dict):
            for key in list(node):
                node[key] = _edited(node[key], seen)
            node[ADDED] = 1
        elif isinstance(node, list):
            node[:] = [_edited(item, seen) for item in reversed(node)]
            node.append(ADDED)
        elif isinstance(node, set):
            node.add(ADDED)
        elif isinstance(node, bytearray):
            node[:] = bytes(byte ^ 1 for byte in node) + b"!"
        elif isinstance(node, (tuple, frozenset)):
            for item in node:
                _edit(item, seen)
        elif hasattr(node, "dtype") and hasattr(node, "shape"):
            _edit_array(node)
        elif hasattr(node, "__dict__") and not isinstance(node, _SHARED):
            for name, value in list(vars(node).items()):
                changed = _edited(value, seen)
                # A frozen object refuses this; what its fields hold has changed all the same.
                with contextlib.suppress(Exception):
                    setattr(node, name, changed)


_SHARED = (type, types.ModuleType, enum.Enum)
"""The types of what a process has once: no copy of a state has its own."""


def _edited(value: Any, seen: dict[int, Any]) -> Any:
    """Return the value that replaces ``value`` in its container."""
    if value is None:
        return 0
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value + "!"
    if isinstance(value, bytes):
        return value + b"!"
    _edit(value, seen)
    return value


def _edit_array(array: Any) -> None:
    if "bool" in str(array.dtype):
        array ^= True
    else:
        array += 1
