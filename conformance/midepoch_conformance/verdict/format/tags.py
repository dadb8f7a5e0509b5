"""The tags of the canonical encoding, for values that JSON does not have (pure).

The data of arrays and tensors are not looked into: DOC-15 compares what comes back.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
from collections.abc import Iterable
from typing import Any

from midepoch_conformance.verdict.format.document import canonical

__all__ = ["uncanonical"]

_LARGEST = 2**53 - 1
_BUFFERS = {
    "$array": {"data", "dtype", "shape"},
    "$scalar": {"data", "dtype"},
    "$tensor": {"data", "dtype", "shape"},
}


def uncanonical(document: Any, path: str = "$") -> str:
    """Return the first place in decoded JSON that its encoding would not have, and why; else "".

    Example:
        >>> uncanonical({"a": {"$set": [2, 1]}})
        '$.a.$set: not sorted'
        >>> uncanonical({"a": {"$set": [1, 2]}})
        ''
    """
    if isinstance(document, bool) or document is None or isinstance(document, float):
        return ""
    if isinstance(document, int):
        return f"{path}: an integer of this size has a tag" if abs(document) > _LARGEST else ""
    if isinstance(document, str):
        return f"{path}: a string with a surrogate has a tag" if _surrogate(document) else ""
    if isinstance(document, list):
        found = (uncanonical(item, f"{path}[{i}]") for i, item in enumerate(document))
        return next(filter(None, found), "")
    tag = next((key for key in document if key.startswith("$")), None)
    if tag is None:
        found = (uncanonical(value, f"{path}.{key}") for key, value in document.items())
        return next(filter(None, found), "")
    wrong = "more keys than the tag" if len(document) > 1 else _tagged(tag, document[tag])
    if wrong:
        return f"{path}.{tag}: {wrong}"
    inner = document[tag]
    return uncanonical(inner, f"{path}.{tag}") if isinstance(inner, list) else ""


def _tagged(tag: str, value: Any) -> str:
    """Return what is wrong with a tag's value itself."""
    if tag in ("$int", "$float", "$str", "$bytes", "$bytearray"):
        return "its value is no text" if not isinstance(value, str) else _text(tag, value)
    if tag in _BUFFERS:
        if not isinstance(value, dict) or set(value) != _BUFFERS[tag]:
            return f"its value has not the keys {', '.join(sorted(_BUFFERS[tag]))}"
        return "" if _bytes(value["data"]) is not None else "its data are no base64"
    if tag not in ("$complex", "$tuple", "$set", "$frozenset", "$dict", "$odict", "$counter"):
        return "there is no such tag"
    if not isinstance(value, list):
        return "its value is no array"
    if tag == "$complex":
        floats = [isinstance(x, float) or (isinstance(x, dict) and "$float" in x) for x in value]
        return "" if floats == [True, True] else "its value is not two floats"
    if tag in ("$set", "$frozenset"):
        return _unsorted(value)
    if tag == "$tuple":
        return ""
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in value):
        return "its value is not an array of pairs"
    keys = [pair[0] for pair in value]
    if tag == "$dict" and all(isinstance(key, str) and not key.startswith("$") for key in keys):
        return "a mapping with these keys has no tag"
    return "" if tag == "$odict" else _unsorted(keys)


def _text(tag: str, value: str) -> str:
    if tag == "$int":
        if not re.fullmatch(r"-?[1-9][0-9]*", value):
            return "its value is no decimal integer"
        digits = value.lstrip("-")
        return "" if len(digits) > 16 or int(digits) > _LARGEST else "this integer has no tag"
    if tag == "$float":
        return "" if value in ("nan", "inf", "-inf") else "this float has no tag"
    decoded = _bytes(value)
    if decoded is None:
        return "its value is no base64"
    if tag != "$str":
        return ""
    try:
        text = decoded.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return "its value is no text"
    return "" if _surrogate(text) else "a string without a surrogate has no tag"


def _bytes(value: Any) -> bytes | None:
    """Return what base64 stands for; None if the text is another than its canonical one."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return None
    return decoded if base64.b64encode(decoded).decode() == value else None


def _surrogate(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _unsorted(values: Iterable[Any]) -> str:
    texts = map(canonical, values)
    return "not sorted" if any(a >= b for a, b in itertools.pairwise(texts)) else ""
