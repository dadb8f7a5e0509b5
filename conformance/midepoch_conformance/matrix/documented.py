"""What loaders document: the limits that a reader of their pages can know beforehand (pure)."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from importlib import resources

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Limit", "limits"]


@dataclasses.dataclass(frozen=True)
class Limit:
    """A sentence of a loader's documentation that promises less than requirements ask."""

    rows: Sequence[str]
    """The rows of the matrix that it is about."""
    requirements: Sequence[str]
    """The requirements that ask for more."""
    says: str
    """What the documentation says, in this project's words."""
    where: str
    """The page or the docstring that says it, with the version."""


def limits() -> tuple[Limit, ...]:
    """Return the documented limits of the matrix's loaders."""
    text = resources.files(__package__).joinpath("documented.toml").read_text("utf-8")
    return tuple(Limit(**entry) for entry in tomllib.loads(text)["limit"])
