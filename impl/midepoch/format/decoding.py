"""From the tree of canonical JSON back to the value; strict, and free of side effects.

Nothing is looked up by a name that the text chooses (DOC-14): a tag is one of the two tables
at the end, a data type one of a list.
"""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from midepoch.errors import StateEncodingError, StateFormatError, show
from midepoch.format import buffers
from midepoch.format.buffers import BufferFault
from midepoch.format.encoding import (
    DIGITS_KEPT,
    DIGITS_MAX,
    INTEGER_MAX,
    Path,
    Tree,
    check_key,
    is_plain_key,
    is_text,
    render,
    step,
    text_of,
)

__all__ = ["decode"]


def decode(tree: Tree) -> Any:
    """Return the value that ``tree`` stands for (DOC-5).

    Raises:
        StateFormatError: the tree is not what ``encode`` returns for any value.
        RecursionError: the nesting is deeper than the stack.
    """
    return _decode(tree, None)


def _refuse(reason: str, path: Path) -> StateFormatError:
    return StateFormatError(reason, render(path), "DOC-5")


def _decode(tree: Tree, path: Path) -> Any:
    if type(tree) is list:
        return _decode_list(tree, path)
    if type(tree) is dict:
        return _decode_object(tree, path)
    if type(tree) is str and not is_text(tree):
        raise _refuse("the string holds a lone surrogate; it must be tagged", path)
    return tree


def _decode_object(tree: dict[str, Tree], path: Path) -> Any:
    value = {}
    for key, element in tree.items():
        if key.startswith("$"):
            return _decode_tag(key, tree, path)
        if not is_text(key):
            raise _refuse("a key holds a lone surrogate; the object must be tagged", path)
        value[key] = _decode(element, (path, step(key)))
    return value


def _decode_tag(tag: str, tree: dict[str, Tree], path: Path) -> Any:
    if len(tree) != 1:
        raise _refuse(f"the tag {show(tag)} stands beside other keys", path)
    inside = (path, step(tag))
    if tag in _CONTAINERS:
        return _CONTAINERS[tag](tree[tag], inside)
    if tag not in _LEAVES:
        raise _refuse(f"unknown tag {show(tag)}", path)
    try:
        return _LEAVES[tag](tree[tag])
    except BufferFault as fault:
        raise _refuse(str(fault), inside) from None


def _decode_int(payload: object) -> int:
    digits = payload.removeprefix("-") if type(payload) is str else ""
    if not (digits.isascii() and digits.isdigit()) or digits.startswith("0"):
        raise BufferFault("expected the decimal digits of an integer, in a string")
    text = str(payload)
    if len(digits) > DIGITS_MAX:
        raise BufferFault(f"an integer of more than {DIGITS_MAX} decimal digits")
    value = int(text) if len(digits) <= DIGITS_KEPT else int(Decimal(text))
    if -INTEGER_MAX <= value <= INTEGER_MAX:
        raise BufferFault("an integer within 2**53 - 1 must not be tagged")
    return value


def _decode_float(payload: object) -> float:
    if type(payload) is not str or payload not in ("nan", "inf", "-inf"):
        raise BufferFault('expected "nan", "inf" or "-inf"')
    return float(payload)


def _decode_complex(payload: object) -> complex:
    if type(payload) is not list or len(payload) != 2:
        raise BufferFault("expected two floats in an array")
    real, imag = map(_decode_part, payload)
    return complex(real, imag)


def _decode_part(part: Tree) -> float:
    if type(part) is dict and list(part) == ["$float"]:
        return _decode_float(part["$float"])
    if type(part) is not float:
        raise BufferFault("expected two floats in an array")
    return part


def _decode_str(payload: object) -> str:
    try:
        value = buffers.decode_base64(payload).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise BufferFault("the data is no UTF-8, lone surrogates allowed") from None
    if is_text(value):
        raise BufferFault("a string without a lone surrogate must not be tagged")
    return value


def _decode_bytearray(payload: object) -> bytearray:
    return bytearray(buffers.decode_base64(payload))


def _decode_list(payload: Tree, path: Path) -> list[Any]:
    if type(payload) is not list:
        raise _refuse(f"expected an array, got {show(payload)}", path)
    value = []
    for i, element in enumerate(payload):
        # A loop: a comprehension is one more frame a level on older interpreters.
        value.append(_decode(element, (path, f"[{i}]")))
    return value


def _decode_tuple(payload: Tree, path: Path) -> tuple[Any, ...]:
    return tuple(_decode_list(payload, path))


def _decode_dict(payload: Tree, path: Path) -> dict[Any, Any]:
    value = _decode_pairs(payload, path)
    _check_sorted([key for key, _ in payload], path)
    if all(map(is_plain_key, value)):
        raise _refuse("a dict whose keys are all plain strings must not be tagged", path)
    return value


def _decode_odict(payload: Tree, path: Path) -> OrderedDict[Any, Any]:
    value = _decode_pairs(payload, path)
    if len({text_of(key) for key, _ in payload}) != len(value):  # not-a-number differs from itself
        raise _refuse("two keys have the same encoding", path)
    return OrderedDict(value)


def _decode_counter(payload: Tree, path: Path) -> Counter[Any]:
    value = _decode_pairs(payload, path)
    _check_sorted([key for key, _ in payload], path)
    return Counter(value)


def _decode_pairs(payload: Tree, path: Path) -> dict[Any, Any]:
    pairs = _decode_list(payload, path)
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise _refuse("expected an array of pairs", path)
    for key, _ in pairs:
        _check_key(key, path)
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _refuse("two keys are equal", path)
    return value


def _decode_set(payload: Tree, path: Path) -> set[Any]:
    members = _decode_list(payload, path)
    _check_sorted(payload, path)
    for member in members:
        _check_key(member, path)
    value = set(members)
    if len(value) != len(members):
        raise _refuse("two members are equal", path)
    return value


def _decode_frozenset(payload: Tree, path: Path) -> frozenset[Any]:
    return frozenset(_decode_set(payload, path))


def _check_sorted(keys: list[Tree], path: Path) -> None:
    texts = [text_of(key) for key in keys]
    if any(low >= high for low, high in itertools.pairwise(texts)):
        raise _refuse("not sorted by canonical form, or one stands twice", path)


def _check_key(key: object, path: Path) -> None:
    try:
        check_key(key, path)
    except StateEncodingError as error:
        raise _refuse(f"a value of type {error.type} is not supported as a key", path) from None


_LEAVES: dict[str, Callable[[Tree], Any]] = {
    "$int": _decode_int,
    "$float": _decode_float,
    "$complex": _decode_complex,
    "$str": _decode_str,
    "$bytes": buffers.decode_base64,
    "$bytearray": _decode_bytearray,
    "$array": buffers.decode_array,
    "$scalar": buffers.decode_scalar,
    "$tensor": buffers.decode_tensor,
}

_CONTAINERS: dict[str, Callable[[Tree, Path], Any]] = {
    "$tuple": _decode_tuple,
    "$dict": _decode_dict,
    "$odict": _decode_odict,
    "$counter": _decode_counter,
    "$set": _decode_set,
    "$frozenset": _decode_frozenset,
}
