"""Checks for the loader's own part of a state: exact JSON types, one fault, one place.

Each check takes any object and its path; it returns the value or raises a ``StateFormatError``.
Checks accept exact built-in types alone. They call no method of a value before its exact type is
known, so that a hostile object cannot run code here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from midepoch.errors import StateFormatError, show

__all__ = [
    "Check",
    "anything",
    "array",
    "at",
    "boolean",
    "choice",
    "decimal",
    "digest",
    "integer",
    "json_types",
    "mapping",
    "nullable",
    "record",
    "subset",
    "text",
]

Check = Callable[[object, str], Any]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,59}\Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)


def anything(value: object, path: str) -> Any:
    """Accept any value: users' parts are carried and never inspected."""
    return value


def boolean(value: object, path: str) -> bool:
    """Accept ``True`` and ``False``."""
    if type(value) is not bool:
        raise StateFormatError(f"expected true or false, got {show(value)}", path)
    return value


def text(value: object, path: str) -> str:
    """Accept a string of Unicode characters."""
    if type(value) is not str:
        raise StateFormatError(f"expected a string, got {show(value)}", path)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise StateFormatError("the string holds a lone surrogate", path) from None
    return value


def digest(value: object, path: str) -> str:
    """Accept a SHA-256 digest, 64 lower-case hexadecimal digits."""
    if type(value) is not str or not _SHA256.match(value):
        raise StateFormatError(
            f"expected 64 lower-case hexadecimal digits, got {show(value)}", path
        )
    return value


def integer(low: int, high: int) -> Check:
    """Make a check for an integer ``low <= value <= high``; it refuses booleans."""

    def check(value: object, path: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise StateFormatError(
                f"expected an integer from {low} to {high}, got {show(value)}", path
            )
        return value

    return check


def decimal(high: int) -> Check:
    """Make a check for the decimal digits of an integer ``0 <= value <= high``."""
    digits = re.compile(rf"(0|[1-9][0-9]{{0,{len(str(high)) - 1}}})\Z", re.ASCII)

    def check(value: object, path: str) -> str:
        if type(value) is not str or not digits.match(value) or int(value) > high:
            raise StateFormatError(
                f"expected the decimal digits of an integer from 0 to {high}, in a string, got "
                f"{show(value)}",
                path,
            )
        return value

    return check


def choice(*words: str) -> Check:
    """Make a check for one of ``words``."""

    def check(value: object, path: str) -> str:
        if type(value) is not str or value not in words:
            raise StateFormatError(f"expected one of {', '.join(words)}, got {show(value)}", path)
        return value

    return check


def nullable(inner: Check) -> Check:
    """Make a check that accepts ``None`` and whatever ``inner`` accepts."""

    def check(value: object, path: str) -> Any:
        return None if value is None else inner(value, path)

    return check


def array(inner: Check) -> Check:
    """Make a check for a list whose elements all pass ``inner``."""

    def check(value: object, path: str) -> list[Any]:
        if type(value) is not list:
            raise StateFormatError(f"expected a list, got {show(value)}", path)
        return [inner(element, f"{path}[{i}]") for i, element in enumerate(value)]

    return check


def subset(*words: str) -> Check:
    """Make a check for a list of some of ``words``, each at most once."""
    elements = array(choice(*words))

    def check(value: object, path: str) -> tuple[str, ...]:
        found = elements(value, path)
        if len(set(found)) != len(found):
            raise StateFormatError("a name stands twice in the list", path)
        return tuple(found)

    return check


def record(
    fields: Mapping[str, Check],
    ignorable: str | None = None,
    optional: Mapping[str, Check] = MappingProxyType({}),
) -> Check:
    """Make a check for a dict with exactly these keys; every value passes its own check.

    Keys that begin with ``ignorable`` are dropped; any other unknown key is refused (DOC-7).
    ``optional``: keys that some documents have.
    """
    known = {**fields, **optional}

    def check(value: object, path: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise StateFormatError(f"expected a dict, got {show(value)}", path)
        for key in list(value):
            if type(key) is not str:
                raise StateFormatError(f"expected string keys, got {show(key)}", path, "DOC-7")
            if key not in known and not (ignorable and key.startswith(ignorable)):
                raise StateFormatError("the format knows no such key", at(path, key), "DOC-7")
        missing = [name for name in fields if name not in value]
        if missing:
            raise StateFormatError(f"missing: {', '.join(missing)}", path)
        return {
            name: inner(value[name], at(path, name))
            for name, inner in known.items()
            if name in value
        }

    return check


def mapping(inner: Check) -> Check:
    """Make a check for a dict of any names without a leading ``$``; values pass ``inner``."""

    def check(value: object, path: str) -> dict[str, Any]:
        if type(value) is not dict:
            raise StateFormatError(f"expected a dict, got {show(value)}", path)
        for key in value:
            if text(key, path).startswith("$"):
                raise StateFormatError(f"expected names without $, got {show(key)}", path)
        return {key: inner(element, at(path, key)) for key, element in value.items()}

    return check


def json_types(room: int) -> Check:
    """Make a check for a value of JSON types alone, at most ``room`` lists and dicts deep.

    Keys must not begin with ``$`` and floats must be finite, so that JSON has the value itself.
    """

    def check(value: object, path: str) -> Any:
        level = _containers([value], path)
        for _ in range(room):
            if not level:
                return value
            children = [child for one in level for child in _children(one, path)]
            level = _containers(children, path)
        if level:
            raise StateFormatError(f"more than {room} lists and dicts within each other", path)
        return value

    return check


def _containers(values: Iterable[object], path: str) -> list[Any]:
    """Check the values that hold no others; return the lists and dicts, each once."""
    found: dict[int, Any] = {}
    for value in values:
        kind = type(value)
        if kind is list or kind is dict:
            found[id(value)] = value
        elif type(value) is str:
            text(value, path)
        elif type(value) is float:
            if not math.isfinite(value):
                raise StateFormatError(f"expected a finite number, got {show(value)}", path)
        elif value is not None and kind is not bool and kind is not int:
            raise StateFormatError(f"expected JSON types alone, got {show(value)}", path)
    return list(found.values())


def _children(value: Any, path: str) -> Iterable[object]:
    if type(value) is list:
        return value
    for key in value:
        if text(key, path).startswith("$"):
            raise StateFormatError(f"expected keys without $, got {show(key)}", path)
    children: Iterable[object] = value.values()
    return children


def at(path: str, key: str) -> str:
    """Return the path of ``key`` inside the object at ``path``.

    >>> at("$.plan", "seed"), at("$", "a b")
    ('$.plan.seed', "$['a b']")
    """
    return f"{path}.{key}" if _PLAIN_KEY.match(key) else f"{path}[{show(key)}]"
