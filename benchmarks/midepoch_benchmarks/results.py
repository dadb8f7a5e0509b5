"""The results of a run, and their file (pure)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from midepoch_benchmarks.cases import CASES, Case
from midepoch_benchmarks.goals import MISSED, VALUE, verdict

__all__ = [
    "FORMAT",
    "VERSION",
    "Absent",
    "CaseResult",
    "Compared",
    "FormatError",
    "Measured",
    "Results",
    "parse",
]

FORMAT, VERSION = "midepoch.benchmarks", 1

ASKED_PEERS = ("torch", "torchdata", "torch (adapter)", "torchdata (adapter)")
"""The asked peers that have goals: PyTorch's loader with its defaults, and torchdata's."""


class FormatError(ValueError):
    """The file does not hold results of benchmarks."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """The figures of one contender."""

    name: str
    """The contender."""
    median: float
    """The median of the rounds, in the case's unit."""
    low: float
    """Their lower quartile."""
    high: float
    """Their upper quartile."""
    rounds: tuple[float, ...] = ()
    """The rounds in the order in which they ran."""


@dataclasses.dataclass(frozen=True)
class Absent:
    """A contender that was not measured."""

    name: str
    """The contender."""
    kind: str
    """``"not offered"``, ``"not installed"``, ``"not measured"`` or ``"failed"``."""
    words: str
    """The reason."""


@dataclasses.dataclass(frozen=True)
class Compared:
    """The loader beside one peer."""

    name: str
    """The loader."""
    peer: str
    """The peer."""
    figure: float
    """The ratio or the cost, by the case's goal."""
    low: float
    """The lower end of its 95% confidence interval."""
    high: float
    """The upper end."""


@dataclasses.dataclass
class CaseResult:
    """The result of a case."""

    case: Case
    """The case."""
    loader: str
    """The name of the loader that is held to the goal."""
    measured: list[Measured] = dataclasses.field(default_factory=list)
    """The contenders that were measured."""
    absent: list[Absent] = dataclasses.field(default_factory=list)
    """The contenders that were not measured."""
    compared: list[Compared] = dataclasses.field(default_factory=list)
    """The loader with each of its peers."""

    def verdict_of(self, compared: Compared) -> str:
        """Return the verdict on a comparison; peers without a goal are reported."""
        if self.case.goal.of == VALUE or not _has_goal(self.case, compared.peer):
            return "reported"
        return verdict(self.case.goal, compared.figure, compared.low, compared.high)

    def own_verdict(self) -> str:
        """Return the verdict on the loader's own figure; ``"reported"`` without a goal."""
        one = next((one for one in self.measured if one.name == self.loader), None)
        if self.case.goal.of != VALUE or one is None:
            return "reported"
        return verdict(self.case.goal, one.median, one.low, one.high)

    def verdicts(self) -> list[str]:
        """Return all verdicts; a loader that failed has missed its goal."""
        found = [self.own_verdict(), *map(self.verdict_of, self.compared)]
        failed = any(one.name == self.loader and one.kind == "failed" for one in self.absent)
        return [*found, MISSED] if failed else found


def _has_goal(case: Case, peer: str) -> bool:
    """Return whether the case's goal is for a peer: a fixed one, or one of the two asked ones."""
    return peer in case.against if isinstance(case.against, tuple) else peer in ASKED_PEERS


@dataclasses.dataclass
class Results:
    """A run."""

    settings: dict[str, Any]
    """The settings: loader, peers, rounds, seconds per round."""
    machine: dict[str, Any]
    """The machine, and the versions of the contenders."""
    results: list[CaseResult] = dataclasses.field(default_factory=list)
    """The cases."""

    @property
    def missed(self) -> list[str]:
        """The ids of the cases that missed a required bound."""
        return [one.case.id for one in self.results if MISSED in one.verdicts()]

    def text(self) -> str:
        """Return the JSON document."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "machine": self.machine,
            "results": [_written(one) for one in self.results],
        }
        return json.dumps(document, indent=1) + "\n"


def _written(one: CaseResult) -> dict[str, Any]:
    goal = one.case.goal
    return {
        "case": one.case.id,
        "words": one.case.words,
        "unit": one.case.unit,
        "per": one.case.per,
        "goal": dataclasses.asdict(goal),
        "loader": one.loader,
        "measured": [dataclasses.asdict(measured) for measured in one.measured],
        "absent": [dataclasses.asdict(absent) for absent in one.absent],
        "compared": [
            {**dataclasses.asdict(compared), "verdict": one.verdict_of(compared)}
            for compared in one.compared
        ],
        "verdict": one.own_verdict(),
    }


def parse(text: str) -> Results:
    """Return the results that a document holds; cases that no longer exist are left out.

    Raises:
        FormatError: the document has another version, or a part is missing.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise FormatError(f"it is not a {FORMAT} document of version {VERSION}")
        results = [_read(one) for one in document["results"] if one["case"] in CASES]
        return Results(document["settings"], document["machine"], results)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise FormatError(f"it is not a {FORMAT} document of version {VERSION}: {error}") from error


def _read(one: Mapping[str, Any]) -> CaseResult:
    # The document carries each case's own words and goals for other readers.
    compared = [{k: v for k, v in told.items() if k != "verdict"} for told in one["compared"]]
    return CaseResult(
        CASES[one["case"]],
        one["loader"],
        [Measured(**{**told, "rounds": tuple(told["rounds"])}) for told in one["measured"]],
        [Absent(**told) for told in one["absent"]],
        [Compared(**told) for told in compared],
    )
