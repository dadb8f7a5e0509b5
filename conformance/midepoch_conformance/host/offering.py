"""Reads an adapter's offer strictly: a misspelt word would change what the suite plays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from midepoch_conformance.case.adapter import CHOICES, Offer
from midepoch_conformance.host.loading import SpecError
from midepoch_conformance.text import meant

__all__ = ["offered"]

_OF = {"workers": int, "intervals": int, "orders": bool, "shuffles": bool, "persistent": bool}
"""The types of what the other entries list."""


def offered(given: Offer | Mapping[str, Any] | object) -> Offer:
    """Return what an adapter offers as an :class:`Offer`.

    Raises:
        SpecError: an entry or a word in it is unknown, or a value has another type.

    Example:
        >>> offered({"workers": [0, 2]}).workers
        (0, 2)
    """
    names = {field.name: field.default for field in dataclasses.fields(Offer)}
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise SpecError(
                f"the adapter's offer has unknown fields: {', '.join(unknown)}",
                f"{meant(unknown[0], names)} the fields: {', '.join(sorted(names))}".strip(),
            )
        fields = dict(given)
    else:
        fields = {name: getattr(given, name) for name in names if hasattr(given, name)}
    for name, default in names.items():
        if name in fields:
            several = isinstance(default, tuple) or name == "intervals"
            fields[name] = (_several if several else _one)(name, fields[name], default)
    return Offer(**fields)


def _one(name: str, value: Any, default: Any) -> Any:
    if isinstance(default, (bool, str)) and not isinstance(value, type(default)):
        raise SpecError(
            f"the offer's {name} is {value!r}", f"it must be a {type(default).__name__}"
        )
    return _known(name, value, f"the offer's {name} is {value!r}")


def _several(name: str, value: Any, default: Any) -> tuple[Any, ...] | None:
    if value is None and default is None:
        return None
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise SpecError(
            f"the offer's {name} is {value!r}", "it must list its values, as in (value,)"
        )
    values = tuple(value)
    for one in values:
        if name in _OF and type(one) is not _OF[name]:
            raise SpecError(
                f"the offer's {name} has {one!r}", f"each must be a {_OF[name].__name__}"
            )
        _known(name, one, f"the offer's {name} has {one!r}")
    return values


def _known(name: str, value: Any, wrong: str) -> Any:
    known = CHOICES.get(name)
    if known is not None and value not in known:
        raise SpecError(
            wrong, f"{meant(str(value), known)} it must be one of {', '.join(known)}".strip()
        )
    return value
