"""The loader's own part of a state document: its keys, its types and its encoding (pure)."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["at_any_snapshot", "canonical", "layout", "untyped"]

_USER = ("dataset", "iterator", "states")
"""Keys under ``lanes`` and ``sampler`` whose values are the user's."""


def layout(document: Any) -> list[str]:
    """Return the paths of the loader's own keys, list items alike as one.

    Example:
        >>> layout({"plan": {"seed": 1}, "lanes": {"entries": [{"dataset": {"a": 1}}]}})
        ['/lanes', '/lanes/entries', '/lanes/entries/dataset', '/plan', '/plan/seed']
    """
    return sorted(_paths(document, ""))


def at_any_snapshot(document: Any) -> dict[str, Any]:
    """Return what a document says of its position whenever its snapshots were taken.

    Example:
        >>> at_any_snapshot({"lanes": {"next": 1, "entries": [{"ordinal": 2, "replay": 1}]}})
        {'lanes': {'next': 1, 'delivered': [3]}, 'sampler': None}
    """
    lanes = document.get("lanes")
    if isinstance(lanes, dict) and isinstance(lanes.get("entries"), list):
        lanes = {"next": lanes.get("next"), "delivered": list(map(_delivered, lanes["entries"]))}
    return {**document, "lanes": lanes, "sampler": None}


def _delivered(entry: Any) -> int:
    """Return the batches of a lane's entry; what is no number is the schema's matter."""
    counts = [entry.get("ordinal"), entry.get("replay")] if isinstance(entry, dict) else []
    return sum(max(0, count) for count in counts if type(count) is int)


def untyped(document: Any) -> list[str]:
    """Return the places in the loader's own part that hold no JSON type of the format.

    Example:
        >>> untyped({"plan": {"seed": {"$int": "9007199254740993"}, "lanes": {"$tuple": []}}})
        ['/plan/lanes', '/plan/seed']
    """
    return sorted(_untyped(document, ""))


def canonical(document: Any) -> bytes:
    """Return the canonical encoding of a document that is read as plain JSON.

    Example:
        >>> canonical({"b": 1.0, "a": [None, True]})
        b'{"a":[null,true],"b":1.0}'
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def _paths(node: Any, path: str) -> set[str]:
    found: set[str] = set()
    if isinstance(node, dict):
        for key, value in node.items():
            here = f"{path}/{key}"
            found.add(here)
            if not _is_users(path, key):
                found |= _paths(value, here)
    elif isinstance(node, list):
        for value in node:
            found |= _paths(value, path)
    return found


_GENERATOR = "/sampler/generators/state"
"""The place in the loader's own part that may hold floats and tagged integers: a library chooses
its generator's state."""


def _untyped(node: Any, path: str) -> set[str]:
    if isinstance(node, float):
        return set() if path.startswith(_GENERATOR) else {path}
    if isinstance(node, list):
        return {p for value in node for p in _untyped(value, path)}
    if not isinstance(node, dict):
        return set()
    if any(str(key).startswith("$") for key in node):
        tagged = set(node) == {"$int"} and path.startswith(_GENERATOR)
        return set() if tagged else {path}
    return {
        p
        for key, value in node.items()
        if not _is_users(path, key)
        for p in _untyped(value, f"{path}/{key}")
    }


def _is_users(path: str, key: str) -> bool:
    # The carried keys are as the user's sampler gave them.
    return f"{path}/{key}" == "/position/carried" or (
        path.startswith(("/lanes", "/sampler")) and key in _USER
    )
