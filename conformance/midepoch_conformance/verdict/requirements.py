"""The requirements and rules, read from the specification's indexes (pure)."""

from __future__ import annotations

import dataclasses
import functools
import json
from importlib import resources
from typing import Any

__all__ = [
    "Requirement",
    "RequirementClass",
    "RequirementError",
    "Rule",
    "classes",
    "get",
    "load",
    "rules",
]


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


@dataclasses.dataclass(frozen=True)
class Rule:
    """A numbered rule, which binds implementers of the format and has no judge of its own."""

    id: str
    """The stable id, such as ``RES-4``."""

    page: str
    """The page of the specification."""

    text: str
    """The rule, in Markdown."""

    requirements: tuple[str, ...]
    """The requirements whose judges judge rules of this kind."""

    vectors: tuple[str, ...]
    """The published vectors that pin it, such as ``invalid/seed-null``."""


@functools.lru_cache(maxsize=1)
def load() -> dict[str, Requirement]:
    """Return all requirements by id, in the specification's order.

    Example:
        >>> load()["RESUME-1"].cls
        'Resume'
    """
    return {r.id: r for r in map(_requirement, _index("requirements.json")["requirements"])}


@functools.lru_cache(maxsize=1)
def classes() -> tuple[RequirementClass, ...]:
    """Return the conformance classes in the specification's order."""
    found = _index("requirements.json")["classes"]
    return tuple(RequirementClass(c["name"], c["binds"], c["title"]) for c in found)


@functools.lru_cache(maxsize=1)
def rules() -> dict[str, Rule]:
    """Return all rules by id, in the specification's order."""
    index = _index("rules.json")
    judged = {kind["prefix"]: tuple(kind["requirements"]) for kind in index["kinds"]}
    return {r["id"]: _rule(r, judged) for r in index["rules"]}


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


def _index(name: str) -> dict[str, Any]:
    text = resources.files("midepoch_spec").joinpath(name).read_text("utf-8")
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


def _rule(data: dict[str, Any], judged: dict[str, tuple[str, ...]]) -> Rule:
    return Rule(
        id=data["id"],
        page=data["page"],
        text=data["text"],
        requirements=judged[data["id"].split("-")[0]],
        vectors=tuple(data["vectors"]),
    )
