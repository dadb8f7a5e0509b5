"""How values that hold others are taken apart for canonical JSON, and made again.

A shape knows neither tags nor places: ``codecs`` walks over the parts.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from midepoch.encoding.buffers import SCALAR_TYPES
from midepoch.encoding.leaves import CodecFault, Plain, is_text
from midepoch.errors import show, type_name
from midepoch.format.checks import at

__all__ = [
    "ELEMENTS",
    "MEMBERS",
    "PAIRS",
    "PLAIN_DICT",
    "SORTED_PAIRS",
    "Shape",
    "Tree",
    "step",
    "text_of",
]

Tree = Any
"""A value that ``json.dumps`` takes: None, bool, int, float, str, list, dict with string keys."""


class Shape(NamedTuple):
    """How the values of some types hold others."""

    parts: Callable[[Any], Iterable[tuple[str, Any]]]
    """The values within a value, each with the step of a path that leads to it."""
    payload: Callable[[list[Tree]], list[Tree]]
    """The payload of a tag, made of the trees of these parts."""
    build: Callable[[list[Any], list[Tree]], Iterable[Any]]
    """Makes the value again of the decoded payload; the payload itself is checked."""


def text_of(tree: Tree) -> bytes:
    """Return the canonical text of ``tree``: no white space, keys sorted by code point."""
    return json.dumps(
        tree, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    ).encode("utf-8")


def step(key: object) -> str:
    """Return the step of a path that leads to ``key``."""
    return at("", key) if type(key) is str else f"[{show(key)}]"


# By identity: hashing or comparing a foreign class may run its metaclass's code.
_KEYS = frozenset(map(id, (type(None), bool, int, float, complex, str, bytes, *SCALAR_TYPES)))


def _check_key(key: object) -> None:
    """Refuse keys and members that hash by identity: their copies would be other keys."""
    if type(key) is tuple or type(key) is frozenset:
        for part in key:
            _check_key(part)
    elif id(type(key)) not in _KEYS:
        raise CodecFault("it is not supported as a key", type=type_name(key))


def _key_step(key: object) -> str:
    where = step(key)
    try:
        _check_key(key)
    except CodecFault as fault:
        fault.step = where
        raise
    return where


def _check_decoded_keys(keys: Iterable[object]) -> None:
    for key in keys:
        try:
            _check_key(key)
        except CodecFault as fault:
            raise CodecFault(f"a value of type {fault.type} is not supported as a key") from None


def _in_order(trees: list[Tree], key: Callable[[Tree], Tree]) -> list[Tree]:
    """Return ``trees`` sorted by the texts of their keys, which must all differ."""
    ranked = sorted(((text_of(key(tree)), tree) for tree in trees), key=lambda pair: pair[0])
    if len({text for text, _ in ranked}) != len(ranked):  # not-a-number differs from itself
        raise CodecFault("two keys have the same encoding", type="dict or set")
    return [tree for _, tree in ranked]


def _check_order(keys: Iterable[Tree]) -> None:
    if any(low >= high for low, high in itertools.pairwise(map(text_of, keys))):
        raise CodecFault("not sorted by canonical form, or one stands twice")


def _whole(tree: Tree) -> Tree:
    return tree


def _key(pair: Tree) -> Tree:
    return pair[0]


def _elements(value: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((f"[{i}]", element) for i, element in enumerate(value))


def _members(value: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((_key_step(member), member) for member in value)


def _items(value: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, element in value.items():
        where = _key_step(key)
        yield where, key
        yield where, element


def _sorted_pairs(trees: list[Tree]) -> list[Tree]:
    pairs = zip(trees[::2], trees[1::2], strict=True)
    return _in_order([list(pair) for pair in pairs], _key)


def _pairs(trees: list[Tree]) -> list[Tree]:
    _sorted_pairs(trees)  # checks that the keys differ
    return [list(pair) for pair in zip(trees[::2], trees[1::2], strict=True)]


def _build_members(members: list[Any], payload: list[Tree]) -> set[Any]:
    _check_order(payload)
    _check_decoded_keys(members)
    value = set(members)
    if len(value) != len(members):
        raise CodecFault("two members are equal")
    return value


def _build_pairs(pairs: list[Any], payload: list[Tree]) -> dict[Any, Any]:
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise CodecFault("expected an array of pairs")
    _check_decoded_keys(key for key, _ in pairs)
    value = dict(pairs)
    if len(value) != len(pairs):
        raise CodecFault("two keys are equal")
    if len({text_of(key) for key, _ in payload}) != len(pairs):  # not-a-number, again
        raise CodecFault("two keys have the same encoding")
    return value


def _build_sorted_pairs(pairs: list[Any], payload: list[Tree]) -> dict[Any, Any]:
    value = _build_pairs(pairs, payload)
    _check_order(map(_key, payload))
    return value


ELEMENTS = Shape(_elements, _whole, lambda elements, payload: elements)
MEMBERS = Shape(_members, lambda trees: _in_order(trees, _whole), _build_members)
PAIRS = Shape(_items, _pairs, _build_pairs)
"""A mapping whose order is part of its value."""
SORTED_PAIRS = Shape(_items, _sorted_pairs, _build_sorted_pairs)


def _has_plain_keys(value: dict[Any, Any]) -> bool:
    return all(type(key) is str and not key.startswith("$") and is_text(key) for key in value)


PLAIN_DICT = Plain(_has_plain_keys, "a dict whose keys are all plain strings")
