"""The table of judges (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.finding import Finding

__all__ = ["REGISTRY", "Judge", "Opinion", "judge"]

Opinion = Callable[[View], "Finding | None"]
"""Says what a played case comes to, or None where the case cannot tell."""


@dataclasses.dataclass(frozen=True)
class Judge:
    """One requirement's judge.

    Attributes:
        requirement: the requirement's id.
        probes: the families of cases that it looks at.
        opinion: what it says.
        alone: whether it also speaks where there is no uninterrupted run to compare with.
    """

    requirement: str
    probes: tuple[str, ...]
    opinion: Opinion
    alone: bool = False


REGISTRY: dict[str, Judge] = {}
"""All judges by requirement; filled by the modules of this package."""


def judge(requirement: str, *probes: str, alone: bool = False) -> Callable[[Opinion], Opinion]:
    """Register the decorated function as the judge of a requirement.

    Raises:
        ValueError: the requirement has a judge already.
    """

    def register(opinion: Opinion) -> Opinion:
        if requirement in REGISTRY:
            raise ValueError(f"{requirement} has two judges; a requirement has one")
        REGISTRY[requirement] = Judge(requirement, probes, opinion, alone)
        return opinion

    return register
