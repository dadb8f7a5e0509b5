"""What was measured, and its file (pure)."""

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
"""Those asked for that the goals speak of: PyTorch's loader as it comes, and torchdata's."""


class FormatError(ValueError):
    """A file that holds no results of benchmarks."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """What one contender took.

    Attributes:
        name: the contender.
        median: of the rounds, in the case's unit.
        low: their lower quartile.
        high: their upper quartile.
        rounds: each round, in the order in which they ran.
    """

    name: str
    median: float
    low: float
    high: float
    rounds: tuple[float, ...] = ()


@dataclasses.dataclass(frozen=True)
class Absent:
    """A contender that was not measured.

    Attributes:
        name: the contender.
        kind: ``"not offered"``, ``"not installed"``, ``"not measured"`` or ``"failed"``.
        words: why.
    """

    name: str
    kind: str
    words: str


@dataclasses.dataclass(frozen=True)
class Compared:
    """The loader beside one peer.

    Attributes:
        name: the loader.
        peer: the peer.
        figure: the ratio or the cost, as the case's goal has it.
        low: the lower end of its 95% confidence interval.
        high: the upper end.
    """

    name: str
    peer: str
    figure: float
    low: float
    high: float


@dataclasses.dataclass
class CaseResult:
    """What came of a case.

    Attributes:
        case: the case.
        loader: the name of the loader that is held to the goal.
        measured: those that were measured.
        absent: those that were not.
        compared: the loader with each of its peers.
    """

    case: Case
    loader: str
    measured: list[Measured] = dataclasses.field(default_factory=list)
    absent: list[Absent] = dataclasses.field(default_factory=list)
    compared: list[Compared] = dataclasses.field(default_factory=list)

    def verdict_of(self, compared: Compared) -> str:
        """Return the verdict on a comparison; peers that no goal speaks of are reported."""
        if self.case.goal.of == VALUE or not _has_goal(self.case, compared.peer):
            return "reported"
        return verdict(self.case.goal, compared.figure, compared.low, compared.high)

    def own_verdict(self) -> str:
        """Return the verdict on the loader's own figure; ``"reported"`` where none is asked."""
        one = next((one for one in self.measured if one.name == self.loader), None)
        if self.case.goal.of != VALUE or one is None:
            return "reported"
        return verdict(self.case.goal, one.median, one.low, one.high)

    def verdicts(self) -> list[str]:
        """Return all verdicts; a loader that failed has missed what was required."""
        found = [self.own_verdict(), *map(self.verdict_of, self.compared)]
        failed = any(one.name == self.loader and one.kind == "failed" for one in self.absent)
        return [*found, MISSED] if failed else found


def _has_goal(case: Case, peer: str) -> bool:
    """Return whether the case's goal speaks of a peer: a fixed one, or the two that are asked."""
    return peer in case.against if isinstance(case.against, tuple) else peer in ASKED_PEERS


@dataclasses.dataclass
class Results:
    """A run.

    Attributes:
        settings: what was asked: loader, peers, rounds, seconds a round.
        machine: what it ran on, and the versions of what took part.
        results: the cases.
    """

    settings: dict[str, Any]
    machine: dict[str, Any]
    results: list[CaseResult] = dataclasses.field(default_factory=list)

    @property
    def missed(self) -> list[str]:
        """The ids of the cases that missed what was required."""
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
    """Return the results that a document holds; cases that are no more are left out.

    Raises:
        FormatError: it is none of this version, or lacks something.
    """
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or document["version"] != VERSION:
            raise FormatError(f"it is no {FORMAT} of version {VERSION}")
        results = [_read(one) for one in document["results"] if one["case"] in CASES]
        return Results(document["settings"], document["machine"], results)
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise FormatError(f"it is no {FORMAT} of version {VERSION}: {error}") from error


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
