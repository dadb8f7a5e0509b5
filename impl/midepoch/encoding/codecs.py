"""The tags of canonical JSON in one table, and the two walks that use it.

``encode`` goes from a value to the tree of its JSON, ``decode`` from a tree back to the value.
``encode`` accepts exact types only, because the type of a subclass would be lost. ``decode`` is
strict and has no side effects: the text chooses one of these tags, and nothing else (DOC-14).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from midepoch.encoding import buffers, leaves, shapes
from midepoch.encoding.leaves import NO_PLAIN, CodecFault, Plain
from midepoch.encoding.shapes import Shape, Tree, step
from midepoch.errors import StateEncodingError, StateFormatError, show, type_name

__all__ = ["NESTING_MAX", "decode", "encode", "height"]

NESTING_MAX = 200
"""How many arrays and objects of the JSON text may be open at once."""


class Leaf(NamedTuple):
    """How values of some types that hold no others are written."""

    tag: str
    types: Sequence[type]
    encode: Callable[[Any], Tree]
    decode: Callable[[Tree], Any]
    plain: Plain = NO_PLAIN


class Container(NamedTuple):
    """How values of one type that hold others are written."""

    tag: str
    type: type
    shape: Shape
    plain: Plain = NO_PLAIN


LEAVES = (
    Leaf("$int", [int], leaves.encode_int, leaves.decode_int, leaves.PLAIN_INT),
    Leaf("$float", [float], repr, leaves.decode_float, leaves.PLAIN_FLOAT),
    Leaf("$complex", [complex], leaves.encode_complex, leaves.decode_complex),
    Leaf("$str", [str], leaves.encode_str, leaves.decode_str, leaves.PLAIN_STR),
    Leaf("$bytes", [bytes], leaves.encode_base64, leaves.decode_base64),
    Leaf("$bytearray", [bytearray], leaves.encode_base64, leaves.decode_bytearray),
    Leaf("$array", [np.ndarray], buffers.encode_array, buffers.decode_array),
    Leaf("$scalar", buffers.SCALAR_TYPES, buffers.encode_scalar, buffers.decode_scalar),
)
TENSORS = Leaf("$tensor", [], buffers.encode_tensor, buffers.decode_tensor)
"""Their type is known only once torch is imported."""
CONTAINERS = (
    Container("$tuple", tuple, shapes.ELEMENTS),
    Container("$dict", dict, shapes.SORTED_PAIRS, shapes.PLAIN_DICT),
    Container("$odict", OrderedDict, shapes.PAIRS),
    Container("$counter", Counter, shapes.SORTED_PAIRS),
    Container("$set", set, shapes.MEMBERS),
    Container("$frozenset", frozenset, shapes.MEMBERS),
)

_TAGS = {codec.tag: codec for codec in (*LEAVES, TENSORS, *CONTAINERS)}

# By identity: hashing or comparing a foreign class may run its metaclass's code.
_LEAVES = {id(kind): leaf for leaf in LEAVES for kind in leaf.types}
_CONTAINERS = {id(container.type): container for container in CONTAINERS}

Path = tuple[Any, str] | None
"""A place: a chain of (parent, step), rendered only if an error needs it."""


def encode(value: object) -> Tree:
    """Return the tree of ``value`` (DOC-5).

    Raises:
        StateEncodingError: a value of a type that has no encoding.
        RecursionError: the nesting is deeper than the stack, or a value contains itself.
    """
    return _encode(value, None, 0)


def _encode(value: Any, path: Path, depth: int) -> Tree:
    kind = type(value)
    if value is None or kind is bool:
        return value
    container = _CONTAINERS.get(id(kind))
    if depth >= NESTING_MAX and (container is not None or kind is list):
        raise RecursionError  # a value that contains itself ends here
    try:
        if kind is list:
            return _encode_parts(shapes.ELEMENTS, value, path, depth)
        if container is None:
            return _encode_leaf(value, path)
        if container.plain.has(value):
            # A loop: a comprehension is one more frame a level on older interpreters.
            tree = {}
            for key, element in value.items():
                tree[key] = _encode(element, (path, step(key)), depth + 1)
            return tree
        trees = _encode_parts(container.shape, value, path, depth)
        return {container.tag: container.shape.payload(trees)}
    except CodecFault as fault:
        place = render(path) + fault.step
        raise StateEncodingError(place, fault.type or type_name(value), str(fault)) from None


def _encode_parts(shape: Shape, value: Any, path: Path, depth: int) -> list[Tree]:
    trees = []
    for where, part in shape.parts(value):
        trees.append(_encode(part, (path, where), depth + 1))
    return trees


def _encode_leaf(value: Any, path: Path) -> Tree:
    leaf = _LEAVES.get(id(type(value))) or (TENSORS if buffers.is_tensor(value) else None)
    if leaf is None:
        raise StateEncodingError(render(path), type_name(value))
    return value if leaf.plain.has(value) else {leaf.tag: leaf.encode(value)}


def decode(tree: Tree) -> Any:
    """Return the value that ``tree`` stands for (DOC-15).

    Raises:
        StateFormatError: the tree is not what ``encode`` returns for any value.
        RecursionError: the nesting is deeper than the stack.
    """
    return _decode(tree, None)


def _decode(tree: Tree, path: Path) -> Any:
    if type(tree) is list:
        elements = []
        for i, element in enumerate(tree):
            elements.append(_decode(element, (path, f"[{i}]")))
        return elements
    if type(tree) is dict:
        return _decode_object(tree, path)
    if type(tree) is str and not leaves.is_text(tree):
        raise _refusal("the string holds a lone surrogate; it must be tagged", path)
    return tree


def _decode_object(tree: dict[str, Tree], path: Path) -> Any:
    value = {}
    for key, element in tree.items():
        if key.startswith("$"):
            return _decode_tagged(key, tree, path)
        if not leaves.is_text(key):
            raise _refusal("a key holds a lone surrogate; the object must be tagged", path)
        value[key] = _decode(element, (path, step(key)))
    return value


def _decode_tagged(tag: str, tree: dict[str, Tree], path: Path) -> Any:
    if len(tree) != 1:
        raise _refusal(f"the tag {show(tag)} stands beside other keys", path)
    if tag not in _TAGS:
        raise _refusal(f"unknown tag {show(tag)}", path)
    codec, payload, inside = _TAGS[tag], tree[tag], (path, step(tag))
    try:
        if isinstance(codec, Leaf):
            value = codec.decode(payload)
        elif type(payload) is not list:
            raise CodecFault(f"expected an array, got {show(payload)}")
        else:
            value = codec.type(codec.shape.build(_decode(payload, inside), payload))
        if codec.plain.has(value):
            raise CodecFault(f"{codec.plain.words} must not be tagged")
    except CodecFault as fault:
        raise _refusal(str(fault), inside) from None
    return value


def _refusal(reason: str, path: Path) -> StateFormatError:
    return StateFormatError(reason, render(path), "DOC-5")


def render(path: Path) -> str:
    """Return ``path`` as text, as in ``$.lanes[0].dataset``."""
    steps: list[str] = []
    while path is not None:
        path, last = path
        steps.append(last)
    return "$" + "".join(reversed(steps))


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
