"""Runs cases, each in an interpreter of its own, and collects their results."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from midepoch_benchmarks.cases import Case
from midepoch_benchmarks.entries import BUILT_IN, Entry, pairs
from midepoch_benchmarks.results import (
    Absent,
    CaseResult,
    Compared,
    Measured,
    Results,
)
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.system.processes import end_group

__all__ = ["FULL", "QUICK", "Pace", "run"]

_PATIENCE = 300.0
"""The seconds that a case has before it is ended."""

_LEAVING = 5.0
"""The seconds that an interpreter has for its exit."""

_SAID = 300
"""The characters of a dead case's last output that are shown."""


@dataclasses.dataclass(frozen=True)
class Pace:
    """The amount of measuring."""

    rounds: int
    """The rounds of each contender in a case."""
    seconds: float
    """The seconds of one round of a stream."""


QUICK = Pace(20, 0.03)
FULL = Pace(40, 0.1)


def run(
    cases: Sequence[Case],
    loader: str,
    peers: Sequence[str],
    pace: Pace,
    told: Callable[[Results], None],
) -> Results:
    """Measure ``cases`` and return the results; ``told`` gets the results so far after each case.

    Raises:
        CheckError: the name of ``loader`` or of a peer leads to no loader.
    """
    machine = _described([name for name in (loader, *peers) if name not in BUILT_IN])
    settings = {"loader": loader, "peers": list(peers), **dataclasses.asdict(pace)}
    results = Results(settings, machine)
    for case in cases:
        results.results.append(_measured(case, loader, peers, pace))
        told(results)
    return results


def _described(specs: Sequence[str]) -> dict[str, Any]:
    machine: dict[str, Any] = {}
    for line in _answers({"specs": list(specs)}):
        if "unknown" in line:
            raise CheckError(line["words"], f"{line['hint']}\nor one of {', '.join(BUILT_IN)}")
        if "failed" in line:
            raise CheckError(f"the contenders cannot be imported: {line['failed']}")
        machine = line.get("machine", machine)
    return machine


def _measured(case: Case, loader: str, peers: Sequence[str], pace: Pace) -> CaseResult:
    sides = pairs(case, loader, peers)
    entries: dict[str, Entry] = {}
    for ours, theirs in sides:
        entries[ours.name] = ours
        if theirs is not None:
            entries[theirs.name] = theirs
    found = CaseResult(case, sides[0][0].name)
    request = {
        "case": case.id,
        "seconds": pace.seconds,
        "rounds": case.rounds or pace.rounds,
        "entries": [dataclasses.asdict(entry) for entry in entries.values()],
        "pairs": [[ours.name, theirs.name] for ours, theirs in sides if theirs is not None],
    }
    for line in _answers(request):
        if "absent" in line:
            found.absent.append(Absent(line["absent"], line["kind"], line["words"]))
        elif "measured" in line:
            spread = line["median"], line["low"], line["high"]
            found.measured.append(Measured(line["measured"], *spread, tuple(line["rounds"])))
        elif "compared" in line:
            found.compared.append(Compared(*line["compared"], *line["figures"]))
        elif "failed" in line:
            told = [one.name for one in found.measured] + [one.name for one in found.absent]
            untold = [name for name in entries if name not in told]
            found.absent += [Absent(name, "failed", line["failed"]) for name in untold]
    return found


def _answers(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an interpreter's answers; the last one is ``failed`` if it does not reach its end."""
    command = [sys.executable, "-m", "midepoch_benchmarks.measuring"]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [*command, json.dumps(request)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            for line in _lines(process.stdout):
                if line.get("done"):
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(_LEAVING)
                    return
                yield line
            yield {"failed": _last_words(process, errors)}
        finally:
            process.kill()
            process.wait()
            end_group(process.pid, _LEAVING)
            if process.stdout is not None:
                process.stdout.close()


def _lines(pipe: IO[bytes] | None) -> Iterator[dict[str, Any]]:
    """Yield the lines until the pipe ends or the time is up."""
    until = time.monotonic() + _PATIENCE
    unread = b""
    while pipe is not None and (left := until - time.monotonic()) > 0:
        if not select.select([pipe], [], [], left)[0]:
            return
        piece = os.read(pipe.fileno(), 1 << 16)
        if not piece:
            return
        *whole, unread = (unread + piece).split(b"\n")
        yield from map(json.loads, whole)


def _last_words(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    """Return how an interpreter without a last line ended."""
    try:
        status = process.wait(1)
    except subprocess.TimeoutExpired:
        return f"not done within {_PATIENCE:.0f} seconds"
    errors.seek(0)
    said = " ".join(errors.read().decode(errors="replace").split())
    return f"its interpreter ended with status {status}: {said[-_SAID:] or 'no output'}"
