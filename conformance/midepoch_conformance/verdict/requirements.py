"""The requirements, read from the specification's index (pure)."""

from __future__ import annotations

import dataclasses
import functools
import json
from importlib import resources
from typing import Any

__all__ = ["Requirement", "RequirementClass", "RequirementError", "classes", "get", "load"]


class RequirementError(LookupError):
    """An id that no requirement of the specification has."""


@dataclasses.dataclass(frozen=True)
class Requirement:
    """One MUST of the specification."""

    id: str
    """The stable id, such as ``RESUME-1``."""

    cls: str
    """The conformance class that it belongs to."""

    level: str
    """The RFC 2119 word."""

    refusal: str
    """The effect of a refusal: ``passes``, ``refused`` or ``fails``."""

    text: str
    """The sentence itself."""

    why: str = ""
    """Its reason."""

    field: tuple[str, ...] = ()
    """Failures in the field that it answers."""

    unjudged: str | None = None
    """Why no judge looks at it, or None if one does."""

    page: str = ""
    """The page of the specification."""


@dataclasses.dataclass(frozen=True)
class RequirementClass:
    """A conformance class; ``binds`` is ``any`` loader, or implementers of the ``format``."""

    name: str
    binds: str
    title: str


@functools.lru_cache(maxsize=1)
def load() -> dict[str, Requirement]:
    """Return all requirements by id, in the specification's order.

    Example:
        >>> load()["RESUME-1"].cls
        'Resume'
    """
    return {r.id: r for r in map(_requirement, _index()["requirements"])}


@functools.lru_cache(maxsize=1)
def classes() -> tuple[RequirementClass, ...]:
    """Return the conformance classes in the specification's order."""
    return tuple(RequirementClass(c["name"], c["binds"], c["title"]) for c in _index()["classes"])


def get(identifier: str) -> Requirement:
    """Return one requirement.

    Raises:
        RequirementError: there is none of that id.
    """
    known = load()
    if identifier not in known:
        raise RequirementError(
            f"no requirement {identifier!r}; `midepoch list` shows the {len(known)} there are"
        )
    return known[identifier]


def _index() -> dict[str, Any]:
    text = resources.files("midepoch_spec").joinpath("requirements.json").read_text("utf-8")
    index: dict[str, Any] = json.loads(text)
    return index


def _requirement(data: dict[str, Any]) -> Requirement:
    return Requirement(
        id=data["id"],
        cls=data["class"],
        level=data["level"],
        refusal=data["refusal"],
        text=data["text"],
        why=data["why"],
        field=tuple(data["field"]),
        unjudged=data["unjudged"],
        page=data["page"],
    )
