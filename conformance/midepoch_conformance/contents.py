"""Whether two batches are equal in value and type, whatever they are made of (pure).

Tensors and arrays are met by their attributes, so that neither torch nor numpy is imported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

__all__ = ["equal", "show"]

_SHOWN = 200
_IDENTITY: Any = object.__eq__


def equal(a: Any, b: Any) -> bool:
    """Return whether ``a`` and ``b`` are equal in structure, type and value; NaN equals NaN.

    Example:
        >>> equal({"x": [1, float("nan")]}, {"x": [1, float("nan")]}), equal([1], [True])
        (True, False)
    """
    if type(a) is not type(b):
        return False
    if isinstance(a, Mapping):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(equal, a, b))
    if hasattr(a, "dtype") and hasattr(a, "shape"):
        return _equal_arrays(a, b)
    if dataclasses.is_dataclass(a) and not isinstance(a, type):
        names = [field.name for field in dataclasses.fields(a)]
        return all(equal(getattr(a, name), getattr(b, name)) for name in names)
    if type(a).__eq__ is _IDENTITY and hasattr(a, "__dict__"):
        return equal(vars(a), vars(b))
    # A NaN is the one thing that differs from itself.
    return bool(a == b) or bool(a != a and b != b)


def show(value: Any) -> str:
    """Return ``value`` on one line that is fit for an error's text."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"


def _equal_arrays(a: Any, b: Any) -> bool:
    if a.dtype != b.dtype or tuple(a.shape) != tuple(b.shape):
        return False
    if str(a.dtype) == "object":
        return equal(a.tolist(), b.tolist())
    same = (a == b) | ((a != a) & (b != b))
    return bool(same.all())
