"""The canonical JSON encoding of a state: one text for each value, equal in value and type.

A value that JSON has stands for itself. Any other value is an object with one key that begins
with ``$``, a *tag*. ``codecs`` holds the table of tags; this file is about the text, and digests of
it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from typing import Any

import numpy as np

from midepoch.encoding.codecs import NESTING_MAX, decode, encode, height
from midepoch.encoding.leaves import INTEGER_MAX
from midepoch.encoding.shapes import Tree, text_of
from midepoch.errors import StateEncodingError, StateFormatError, show, type_name

__all__ = ["DIGEST_START", "INTEGER_MAX", "NESTING_MAX", "chain_digest", "dumps", "loads"]

DIGEST_START = hashlib.sha256(b"").hexdigest()
"""The digest of no steps."""


def dumps(tree: object) -> bytes:
    """Return the canonical encoding of ``tree`` (DOC-5).

    Raises:
        StateEncodingError: a value of a type that has none, or nesting beyond ``NESTING_MAX``.

    >>> dumps({"b": (1, 2.0), "a": b"x"})
    b'{"a":{"$bytes":"eA=="},"b":{"$tuple":[1,2.0]}}'
    """
    reason = f"it is nested deeper than {NESTING_MAX} levels, or contains itself"
    try:
        encoded = encode(tree)
        if height(encoded) > NESTING_MAX:
            raise StateEncodingError("$", type_name(tree), reason)
        return text_of(encoded)
    except RecursionError:
        raise StateEncodingError("$", type_name(tree), reason) from None


def loads(data: bytes | bytearray | memoryview | str) -> Any:
    """Return the value that canonical JSON describes (DOC-15).

    White space, the order of keys and the spelling of strings and fractions are free. In all
    other respects a value has one form, and any other form is refused.

    Raises:
        StateFormatError: the text is no JSON, or not of this encoding.

    >>> loads(b'{"a": {"$tuple": [1, 2.0]}}')
    {'a': (1, 2.0)}
    """
    try:
        tree = _parse(_characters(data))
        if height(tree) > NESTING_MAX:
            raise _refuse(f"nested deeper than {NESTING_MAX} levels")
        return decode(tree)
    except RecursionError:
        raise _refuse(f"nested deeper than {NESTING_MAX} levels") from None


def _refuse(reason: str) -> StateFormatError:
    return StateFormatError(reason, "$", "DOC-5")


def _characters(data: object) -> str:
    if type(data) is str:
        return data
    if not (type(data) is bytes or type(data) is bytearray or type(data) is memoryview):
        raise _refuse(f"expected bytes or a string, got {show(data)}")
    try:
        return bytes(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refuse(f"the text is no UTF-8: {error.reason}") from None


def _parse(text: str) -> Tree:
    try:
        return json.loads(
            text,
            object_pairs_hook=_parse_object,
            parse_int=_parse_int,
            parse_float=_parse_float,
            parse_constant=_parse_constant,
        )
    except json.JSONDecodeError as error:
        raise _refuse(f"the text is no JSON: {error}") from None


def _parse_object(pairs: list[tuple[str, Tree]]) -> Tree:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise _refuse(f"the key {show(twice)} stands twice in an object")
    return tree


def _parse_int(digits: str) -> int:
    if len(digits) > 17 or digits == "-0" or not -INTEGER_MAX <= int(digits) <= INTEGER_MAX:
        raise _refuse(f"the number {digits[:20]} must be tagged to keep its value")
    return int(digits)


def _parse_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _refuse(f"the number {digits[:20]} is beyond a 64-bit float")
    return value


def _parse_constant(name: str) -> float:
    raise _refuse(f"{name} is no JSON; it must be tagged")


def _by_value(keys: Any) -> Any:
    """Return ``keys`` with integers in place of NumPy's: user code may give either."""
    if isinstance(keys, np.integer):
        return int(keys)
    if type(keys) in (list, tuple):
        return type(keys)(map(_by_value, keys))
    if type(keys) is dict:
        return {key: _by_value(value) for key, value in keys.items()}
    return keys


def chain_digest(digest: str, keys: Any) -> str:
    """Return the digest after one more step gave ``keys``; ``None`` if it raised.

    >>> chain_digest(chain_digest(DIGEST_START, [4, 2]), [0])[:16]
    '01dc32a1707d4c75'
    """
    try:
        text = dumps(_by_value(keys))
    except StateEncodingError:
        text = dumps({"$opaque": type(keys).__qualname__})
    return hashlib.sha256(bytes.fromhex(digest) + text).hexdigest()
