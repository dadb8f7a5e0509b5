"""Measures one case, or describes this interpreter: JSON in the argument, JSON lines out."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from midepoch_benchmarks.cases import CASES
from midepoch_benchmarks.entries import Entry
from midepoch_benchmarks.goals import COST
from midepoch_benchmarks.measuring import contenders
from midepoch_benchmarks.measuring.adapted import Adapted
from midepoch_benchmarks.measuring.job import Job
from midepoch_benchmarks.measuring.machine import described
from midepoch_benchmarks.measuring.measures import MEASURES
from midepoch_benchmarks.measuring.rounds import Entrant, interleaved
from midepoch_benchmarks.measuring.spread import ratio, spread
from midepoch_conformance.host.loading import SpecError

Say = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Answer the request on a copy of the standard output, because loaders may print there."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    # One thread, as in workers: the comparison is of loaders, not of thread pools.
    torch.set_num_threads(1)

    def say(line: Mapping[str, Any]) -> None:
        answers.write(f"{json.dumps(line)}\n")
        answers.flush()

    request = json.loads(sys.argv[1])
    if "case" in request:
        measure(request, say)
    else:
        describe(request, say)
    say({"done": True})


def describe(request: Mapping[str, Any], say: Say) -> None:
    """Describe this machine, and name the unknown contenders."""
    say({"machine": described()})
    for spec in request["specs"]:
        try:
            Adapted(spec, spec)
        except SpecError as error:
            say({"unknown": spec, "words": str(error), "hint": error.hint})
        except contenders.NotInstalledError:
            continue


def measure(request: Mapping[str, Any], say: Say) -> None:
    """Measure a case and report its figures."""
    case = CASES[request["case"]]
    job = Job.of(case.parameters, request["seconds"])
    entrants: dict[str, Entrant] = {}

    def absent(name: str, error: BaseException) -> None:
        kind, words = "failed", f"{type(error).__name__}: {error}"
        if isinstance(error, contenders.NotOfferedError):
            kind, words = "not offered", str(error)
        if isinstance(error, contenders.NotMeasuredError):
            kind, words = "not measured", str(error)
        if isinstance(error, contenders.NotInstalledError):
            kind, words = "not installed", str(error)
        say({"absent": name, "kind": kind, "words": words})

    for told in request["entries"]:
        entry = Entry(**told)
        try:
            entrants[entry.name] = MEASURES[case.measure](_contender(entry), job.by(entry))
        except Exception as error:
            absent(entry.name, error)
    found = interleaved(entrants, request["rounds"], absent)
    for name, rounds in found.items():
        median, low, high = spread(rounds)
        line = {"measured": name, "median": median, "low": low, "high": high}
        say({**line, "rounds": rounds})
    for name, peer in request["pairs"]:
        # A ratio needs figures that are not zero.
        if all(found.get(name, [0])) and all(found.get(peer, [0])):
            cost = case.goal.of == COST
            over, under = (name, peer) if cost else (peer, name)
            figures = [value - cost for value in ratio(found[over], found[under])]
            say({"compared": [name, peer], "figures": figures})
    for entrant in entrants.values():
        entrant.close()


def _contender(entry: Entry) -> contenders.Contender:
    if not entry.adapted:
        return contenders.BUILT_IN[entry.spec]()
    try:
        return Adapted(entry.spec, entry.name)
    except SpecError:
        raise contenders.NotOfferedError("it has no adapter") from None


if __name__ == "__main__":
    main()
