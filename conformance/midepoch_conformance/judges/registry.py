"""The table of judges (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.finding import Finding

__all__ = ["REGISTRY", "Judge", "JudgeFunction", "judge"]

JudgeFunction = Callable[[View], "Finding | None"]
"""A judge: returns its finding on a played case, or None if the case cannot tell."""


@dataclasses.dataclass(frozen=True)
class Judge:
    """One requirement's judge."""

    requirement: str
    """The requirement's id."""

    families: tuple[str, ...]
    """The families of cases that the judge looks at."""

    function: JudgeFunction
    """The judge itself; its docstring says what it judges."""

    alone: bool = False
    """Whether it also judges without an uninterrupted run to compare with."""


REGISTRY: dict[str, Judge] = {}
"""All judges by requirement; filled by the modules of this package."""


def judge(
    requirement: str, *families: str, alone: bool = False
) -> Callable[[JudgeFunction], JudgeFunction]:
    """Register the decorated function as the judge of a requirement.

    Raises:
        ValueError: the requirement has a judge already.
    """

    def register(function: JudgeFunction) -> JudgeFunction:
        if requirement in REGISTRY:
            raise ValueError(f"{requirement} has two judges; a requirement has one")
        REGISTRY[requirement] = Judge(requirement, families, function, alone)
        return function

    return register
