"""The published test vectors, as cases and judges use them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import Any

__all__ = ["Vector", "VectorError", "published_elements", "resume", "schema", "vector", "vectors"]


class VectorError(LookupError):
    """A vector that is not published."""


@dataclasses.dataclass(frozen=True)
class Vector:
    """One published vector."""

    name: str
    """Its file's name without the ending."""

    data: dict[str, Any]
    """The whole file."""

    @property
    def requirement(self) -> str:
        """Return the requirement that it tests."""
        return str(self.data["requirement"])

    @property
    def error(self) -> str:
        """Return the error type that refuses it; empty if it is valid."""
        return str(self.data.get("error", ""))

    @property
    def plan(self) -> dict[str, Any]:
        """Return the loader's plan, its tagged integers as integers."""
        return {name: _plain(value) for name, value in self.data["plan"].items()}

    @property
    def differences(self) -> dict[str, tuple[str, ...]]:
        """Return the plan's differing fields with both values; null has no spelling.

        Of options, each name and each value is to be spelled.
        """
        saved = {name: _plain(value) for name, value in self.data["state"]["plan"].items()}
        pairs = {name: (saved[name], self.plan[name]) for name in self.data["fields"]}
        return {name: tuple(map(str, _spelled(pair))) for name, pair in pairs.items()}

    @property
    def epochs(self) -> list[list[Any]]:
        """Return a resume's epochs: batches of rows, and None for a batch that raised.

        A sample that comes alone is a batch of one row.
        """
        return [
            [b if b is None or isinstance(b[0], list) else [b] for b in epoch]
            for epoch in self.data["epochs"]
        ]

    @property
    def text(self) -> str:
        """Return the state's canonical JSON."""
        state = self.data["state"]
        return json.dumps(state, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _spelled(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, dict):
            yield from itertools.chain.from_iterable(value.items())
        elif value is not None:
            yield value


@functools.lru_cache
def vectors(folder: str) -> tuple[Vector, ...]:
    """Return the vectors of a folder under ``vectors/``, by name.

    Example:
        >>> all(v.error for v in vectors("invalid"))
        True
    """
    files = (resources.files("midepoch_spec") / "vectors" / folder).iterdir()
    found = [
        Vector(file.name.removesuffix(".json"), json.loads(file.read_text("utf-8")))
        for file in files
        if file.name.endswith(".json")
    ]
    return tuple(sorted(found, key=lambda v: v.name))


def vector(folder: str, name: str) -> Vector:
    """Return one vector.

    Raises:
        VectorError: there is none of that name.
    """
    for found in vectors(folder):
        if found.name == name:
            return found
    raise VectorError(f"no vector {name!r} under vectors/{folder}")


def resume(name: str) -> Vector:
    """Return one of the published resumes, of the plain datasets or of further users' objects.

    Raises:
        VectorError: there is none of that name.
    """
    return next((v for v in vectors("users") if v.name == name), None) or vector("resumes", name)


def published_elements(name: str) -> list[tuple[int, list[int]]]:
    """Return some stretches of a published order, each with its first position.

    The order's key is that of epoch 0 under the root seed 0.

    Example:
        >>> published_elements("5")
        [(0, [3, 4, 2, 0, 1])]
    """
    orders = vector("order", name).data["orders"]
    order = next(o for o in orders if o["key"] == _ROOT_0)
    whole = [{"position": 0, "elements": order["elements"]}] if "elements" in order else []
    stretches = whole or order["at"]
    return [(int(s["position"]), [int(i) for i in s["elements"]]) for s in stretches]


_ROOT_0 = "6192645256972319759"
"""The key of epoch 0 under the root seed 0: ``derive(0, "order", 0)``."""


@functools.lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Return the JSON Schema of the state document."""
    file = resources.files("midepoch_spec") / "schema" / "state-1.schema.json"
    found: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return found


def _plain(value: Any) -> Any:
    return int(value["$int"]) if isinstance(value, dict) and "$int" in value else value
