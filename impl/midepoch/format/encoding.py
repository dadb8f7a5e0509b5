"""From a value to the tree of its canonical JSON; the tags stand in the tables at the end.

Only exact types are encoded: of a subclass the type would be lost.
"""

from __future__ import annotations

import json
import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, cast

import numpy as np

from midepoch.errors import StateEncodingError, show, type_name
from midepoch.format import buffers
from midepoch.format.buffers import BufferFault
from midepoch.format.checks import at

__all__ = [
    "DIGITS_KEPT",
    "DIGITS_MAX",
    "INTEGER_MAX",
    "NESTING_MAX",
    "Path",
    "Tree",
    "check_key",
    "encode",
    "height",
    "is_plain_key",
    "is_text",
    "render",
    "step",
    "text_of",
]

INTEGER_MAX = 2**53 - 1
"""The largest integer that every JSON reader keeps; larger ones are tagged."""

NESTING_MAX = 200
"""How many arrays and objects of the JSON text may be open at once."""

DIGITS_MAX = 100_000
"""Decimal digits of an integer; the time to convert more grows with their square."""

DIGITS_KEPT = 4000
"""Decimal digits that ``str`` and ``int`` convert whatever their own limit is; see ``_digits``."""

Tree = Any
"""What ``json.dumps`` takes: None, bool, int, float, str, list, dict with string keys."""

Path = tuple[Any, str] | None
"""A place: a chain of (parent, step), rendered only where an error needs it."""


def encode(value: object) -> Tree:
    """Return the tree of ``value`` (DOC-5).

    Raises:
        StateEncodingError: a value of a type that has no encoding, or that contains itself.
        RecursionError: the nesting is deeper than the stack.
    """
    return _encode(value, None, 0)


def text_of(tree: Tree) -> bytes:
    """Return the canonical text of ``tree``: no white space, keys sorted by code point."""
    return json.dumps(
        tree, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode("utf-8")


def height(tree: Tree) -> int:
    """Return how many arrays and objects of ``tree`` are open at once at most.

    >>> height(1), height([]), height({"a": [1]})
    (0, 1, 2)
    """
    children: Iterable[Tree]
    if type(tree) is dict:
        children = tree.values()
    elif type(tree) is list:
        children = tree
    else:
        return 0
    return 1 + max(map(height, children), default=0)


def render(path: Path) -> str:
    """Return ``path`` as text, as in ``$.lanes[0].dataset``."""
    steps: list[str] = []
    while path is not None:
        path, last = path
        steps.append(last)
    return "$" + "".join(reversed(steps))


def step(key: object) -> str:
    """Return the step of a path that leads to ``key``."""
    return at("", key) if type(key) is str else f"[{show(key)}]"


def is_text(value: str) -> bool:
    """Tell whether UTF-8 has the string: a lone surrogate is in no Unicode text."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_plain_key(key: object) -> bool:
    """Tell whether ``key`` can be a key of a plain JSON object that is no tag."""
    return type(key) is str and not key.startswith("$") and is_text(key)


def check_key(key: object, path: Path) -> None:
    """Refuse keys and members that hash by identity: their copies would be others.

    Raises:
        StateEncodingError: ``key`` is, or holds, such a value.
    """
    if type(key) is tuple or type(key) is frozenset:
        for part in key:
            check_key(part, path)
    elif id(type(key)) not in _KEYS and not buffers.is_scalar(key):
        raise StateEncodingError(render(path), type_name(key), "it is not supported as a key")


def _encode(value: object, path: Path, depth: int) -> Tree:
    if value is None or type(value) is bool:
        return value
    container = _CONTAINERS.get(id(type(value)))
    if container is None:
        return _encode_leaf(value, path)
    if depth >= NESTING_MAX:  # a value that contains itself ends here
        raise RecursionError
    return container(value, path, depth + 1)


def _encode_leaf(value: object, path: Path) -> Tree:
    leaf = _LEAVES.get(id(type(value)))
    try:
        if leaf is not None:
            return leaf(value)
        if buffers.is_scalar(value):
            return {"$scalar": buffers.encode_scalar(cast("np.generic[Any]", value))}
        if buffers.is_tensor(value):
            return {"$tensor": buffers.encode_tensor(value)}
    except BufferFault as fault:
        raise StateEncodingError(render(path), type_name(value), str(fault)) from None
    raise StateEncodingError(render(path), type_name(value))


def _encode_int(value: int) -> Tree:
    if -INTEGER_MAX <= value <= INTEGER_MAX:
        return value
    return {"$int": _digits(value)}


def _digits(value: int) -> str:
    # A decimal digit takes more than three bits, and less than four.
    if value.bit_length() < 3 * DIGITS_KEPT:
        return str(value)
    digits = f"{Decimal(value):f}" if value.bit_length() < 4 * DIGITS_MAX else ""
    if not 0 < len(digits.removeprefix("-")) <= DIGITS_MAX:
        raise BufferFault(f"it has more than {DIGITS_MAX} decimal digits")
    return digits


def _encode_float(value: float) -> Tree:
    return value if math.isfinite(value) else {"$float": repr(value)}


def _encode_complex(value: complex) -> Tree:
    return {"$complex": [_encode_float(value.real), _encode_float(value.imag)]}


def _encode_str(value: str) -> Tree:
    if is_text(value):
        return value
    return {"$str": buffers.encode_base64(value.encode("utf-8", "surrogatepass"))}


def _encode_bytes(value: bytes) -> Tree:
    return {"$bytes": buffers.encode_base64(value)}


def _encode_bytearray(value: bytearray) -> Tree:
    return {"$bytearray": buffers.encode_base64(value)}


def _encode_array(value: np.ndarray[Any, Any]) -> Tree:
    return {"$array": buffers.encode_array(value)}


def _encode_list(value: Iterable[Any], path: Path, depth: int) -> Tree:
    tree = []
    for i, element in enumerate(value):
        # A loop: a comprehension is one more frame a level on older interpreters.
        tree.append(_encode(element, (path, f"[{i}]"), depth))
    return tree


def _encode_tuple(value: tuple[Any, ...], path: Path, depth: int) -> Tree:
    return {"$tuple": _encode_list(value, path, depth)}


def _encode_dict(value: dict[Any, Any], path: Path, depth: int) -> Tree:
    if not all(map(is_plain_key, value)):
        return {"$dict": _sorted_pairs(_encode_pairs(value, path, depth), path)}
    tree = {}
    for key, element in value.items():
        tree[key] = _encode(element, (path, step(key)), depth)
    return tree


def _encode_odict(value: OrderedDict[Any, Any], path: Path, depth: int) -> Tree:
    pairs = _encode_pairs(value, path, depth)
    _sorted_pairs(pairs, path)  # for its check: their order is the mapping's own
    return {"$odict": pairs}


def _encode_counter(value: Counter[Any], path: Path, depth: int) -> Tree:
    return {"$counter": _sorted_pairs(_encode_pairs(value, path, depth), path)}


def _encode_pairs(value: dict[Any, Any], path: Path, depth: int) -> list[Tree]:
    pairs = []
    for key, element in value.items():
        inside = (path, step(key))
        check_key(key, inside)
        pairs.append([_encode(key, inside, depth), _encode(element, inside, depth)])
    return pairs


def _encode_set(value: set[Any], path: Path, depth: int) -> Tree:
    return {"$set": _encode_members(value, path, depth)}


def _encode_frozenset(value: frozenset[Any], path: Path, depth: int) -> Tree:
    return {"$frozenset": _encode_members(value, path, depth)}


def _encode_members(value: Iterable[Any], path: Path, depth: int) -> Tree:
    members = []
    for member in value:
        inside = (path, step(member))
        check_key(member, inside)
        members.append(_encode(member, inside, depth))
    return _sorted(members, members, path)


def _sorted_pairs(pairs: list[Tree], path: Path) -> list[Tree]:
    return _sorted(pairs, [key for key, _ in pairs], path)


def _sorted(trees: list[Tree], keys: list[Tree], path: Path) -> list[Tree]:
    """Return ``trees`` sorted by the text of ``keys``, which must all be different."""
    ranked = sorted(zip(map(text_of, keys), trees, strict=True), key=lambda pair: pair[0])
    if len({text for text, _ in ranked}) != len(ranked):  # not-a-number differs from itself
        raise StateEncodingError(render(path), "dict or set", "two keys have the same encoding")
    return [tree for _, tree in ranked]


# By identity: to hash or compare a foreign class may run its metaclass's code.

_LEAVES: dict[int, Callable[[Any], Tree]] = {
    id(int): _encode_int,
    id(float): _encode_float,
    id(complex): _encode_complex,
    id(str): _encode_str,
    id(bytes): _encode_bytes,
    id(bytearray): _encode_bytearray,
    id(np.ndarray): _encode_array,
}

_CONTAINERS: dict[int, Callable[[Any, Path, int], Tree]] = {
    id(list): _encode_list,
    id(tuple): _encode_tuple,
    id(dict): _encode_dict,
    id(OrderedDict): _encode_odict,
    id(Counter): _encode_counter,
    id(set): _encode_set,
    id(frozenset): _encode_frozenset,
}

_KEYS = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes)))
