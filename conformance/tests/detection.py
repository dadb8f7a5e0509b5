"""How many broken loaders the suite finds: each mutant is played through whole profiles.

``python conformance/tests/detection.py`` plays every mutant through ``quick``, as ``midepoch
check`` does, until the first requirement fails, whichever that is. It prints for each the
requirement and the number of the case, and then the rate of each profile and family. Results are
kept in a file as they come: an interrupted run goes on where it stopped.

    python conformance/tests/detection.py                              every mutant, quick
    python conformance/tests/detection.py --untuned --profile quick full
    python conformance/tests/detection.py NAME... --family costs
    python conformance/tests/detection.py --broken FOLDER              another loader's
    python conformance/tests/detection.py --untuned --summary docs/assets/detection.json

A failure counts only if the sound loader that the mutant was made of passes the same case.

In ``quick`` the cases of the requirement that found a mutant in the last run come first: most
mutants are red within seconds. All cases follow if these are green.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import traceability
from warm_hosts import PLAIN, TORCH, WarmHosts

from midepoch_conformance import judges
from midepoch_conformance.case.case import Case
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.system.processes import adopt_orphans
from midepoch_conformance.playing import host_process
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.playing.runner import Runner
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import CasesJudged, Event
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.summary import unjudged
from midepoch_conformance.verdict.results import CaseResult, failing

__all__ = [
    "INDEPENDENT",
    "UNTUNED",
    "Mutant",
    "Result",
    "independent",
    "playing",
    "tuned",
    "untuned",
]

HERE = Path(__file__).resolve().parent
UNTUNED = HERE / "untuned"
INDEPENDENT = tuple(
    HERE / name / "broken"
    for name in ("independent_loader", "ledger_loader", "pipeline_loader", "queue_loader")
)
PROFILES = ("quick", "full")
BEFORE = UNTUNED / "after.json"
"""The figures of the last run."""

LIMIT = {PLAIN: 5.0, TORCH: 15.0}
"""Seconds that a session may take, by the modules that the loader needs."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A broken loader, as its file describes it."""

    name: str
    path: Path
    family: str
    """The sort of bug; ``tuned`` for the mutants that the suite's tests name."""
    breaks: tuple[str, ...]
    """The requirements that it is expected to be caught by; empty for any."""
    words: str
    """The first line of its docstring."""
    edits: int = 0
    """How many texts of the reference loader it edits."""
    torch: bool = False
    """Whether it needs torch."""

    @property
    def sound(self) -> str:
        """The loader that it was made of."""
        own = self.path.parent.parent / "adapter.py"
        if own.exists():
            return f"{own}:Adapter"
        if self.edits or self.path.parent != UNTUNED:
            return "reference" if self.torch else f"{traceability.MUTANTS}/base.py:Adapter"
        return f"{UNTUNED}/sound.py:{self.name}"


@dataclasses.dataclass(frozen=True)
class Result:
    """The fate of one mutant in one profile."""

    name: str
    family: str
    profile: str
    caught: bool
    requirement: str = ""
    """The first requirement that failed."""
    outcome: str = ""
    words: str = ""
    case: str = ""
    number: int = 0
    """The cases that were judged until then, or all of them."""
    seconds: float = 0.0
    trouble: str = ""
    """Why nothing could be judged."""

    @property
    def red(self) -> bool:
        """Whether whoever checks this loader sees that something is wrong."""
        return self.caught or bool(self.trouble)


def described(path: Path, family: str = "") -> Mutant | None:
    """Return what a mutant's file says of itself, without running it; None if it is no mutant."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    said: dict[str, Any] = {}
    for node in tree.body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        for target in targets:
            name = getattr(target, "id", "")
            if name in ("FAMILY", "BREAKS", "EDITS", "EXPECTED"):
                assert isinstance(node, (ast.Assign, ast.AnnAssign))
                assert node.value is not None
                said[name] = ast.literal_eval(node.value)
    if "EXPECTED" not in said and "BREAKS" not in said:
        return None
    words = (ast.get_docstring(tree) or "").split("\n\n")[0].replace("\n", " ")
    breaks = said.get("BREAKS", (said.get("EXPECTED"),))
    edits = len(said.get("EDITS", ()))
    torch = edits > 0 or "from format_base import" in text
    return Mutant(path.stem, path, said.get("FAMILY", family), breaks, words, edits, torch)


def tuned() -> dict[str, Mutant]:
    """Return the mutants that the suite's tests name, by their names."""
    return _in_folder(traceability.MUTANTS, "tuned")


def untuned() -> dict[str, Mutant]:
    """Return the mutants that nobody tuned the suite to, by their names."""
    return _in_folder(UNTUNED, "")


def independent(*folders: Path) -> dict[str, Mutant]:
    """Return the broken versions of other loaders, whose adapters lie above them."""
    found: dict[str, Mutant] = {}
    for folder in folders or INDEPENDENT:
        found |= _in_folder(folder, "another loader")
    return found


def _in_folder(folder: Path, family: str) -> dict[str, Mutant]:
    found = [described(path, family) for path in sorted(folder.glob("*.py"))]
    return {mutant.name: mutant for mutant in found if mutant is not None}


class _Caught(Exception):  # noqa: N818 - it is no error
    """The first failing case."""

    def __init__(self, event: CasesJudged) -> None:
        super().__init__(event.result.case.id)
        self.event = event


def playing(
    spec: str,
    profile: str,
    limit: float,
    jobs: int = 1,
    sound: str = "reference",
    only: Sequence[str] = (),
) -> dict[str, Any]:
    """Play a loader through a profile until a requirement fails that ``sound`` does not fail.

    Return the facts of a result.
    """
    results: list[CaseResult] = []

    def listen(event: Event) -> None:
        if isinstance(event, CasesJudged):
            results.append(event.result)
            wrong = {f.requirement for f in event.result.findings if failing(f)}
            if wrong and not wrong <= failed_by(sound, event.result.case, limit):
                raise _Caught(event)

    began = time.monotonic()
    settings = Settings(spec, profile=profile, jobs=jobs, only=tuple(only))
    facts: dict[str, Any] = {"caught": False}
    try:
        check = run_check(settings, listen, lambda: Runner(spec, limit=limit))
        errors = sorted({row.requirement for row in check.summary.rows if row.outcome == "error"})
        if missing := errors or unjudged(results):
            facts["trouble"] = f"could not be judged: {', '.join(missing)}"
    except _Caught as caught:
        result = caught.event.result
        found = next(finding for finding in result.findings if failing(finding))
        facts = {
            "caught": True,
            "requirement": found.requirement,
            "outcome": f"{found.outcome} ({found.kind})" if found.kind else found.outcome,
            "words": found.words,
            "case": result.case.id,
        }
    except CheckError as error:  # the loader does not run at all: whoever calls it sees that
        facts["trouble"] = str(error).splitlines()[0]
    judged = sum(result.reason is None for result in results)
    return {**facts, "number": judged, "seconds": round(time.monotonic() - began, 1)}


def failed_by(spec: str, case: Case, limit: float) -> set[str]:
    """Return the requirements that a loader fails on a case."""
    with Runner(spec, limit=limit) as runner:
        findings = Bench(runner).judge(case, 0).findings
    return {finding.requirement for finding in findings if failing(finding)}


@contextlib.contextmanager
def forked_hosts() -> Iterator[WarmHosts]:
    """Fork the hosts of all runners from warm processes."""
    hosts, real = WarmHosts(), host_process.subprocess
    adopt_orphans()  # a forked host becomes a child of this process, which waits for its end
    forking: Any = types.SimpleNamespace(**{**vars(subprocess), "Popen": hosts.start})
    host_process.subprocess = forking
    try:
        yield hosts
    finally:
        host_process.subprocess = real
        adopt_orphans(False)
        hosts.close()


def measured(
    mutants: Sequence[Mutant],
    profiles: Sequence[str],
    kept: Path,
    missed_only: bool,
    jobs: int = 1,
) -> list[Result]:
    """Play what ``kept`` does not have yet, note it there, and return all results."""
    known = {(r.name, r.profile): r for r in read(kept)}
    first = found_before()
    wanted: list[Result] = []
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="midepoch-edited-"))
        os.environ["MIDEPOCH_EDITED_COPIES"] = folder
        hosts = stack.enter_context(forked_hosts())
        for profile in profiles:
            for mutant in mutants:
                before = known.get((mutant.name, "quick"))
                if missed_only and profile == "full" and before is not None and before.red:
                    continue
                result = known.get((mutant.name, profile))
                if result is None:
                    hosts.modules = TORCH if mutant.torch else PLAIN
                    limit = LIMIT[hosts.modules]
                    played = (f"{mutant.path}:Adapter", profile, limit, jobs, mutant.sound)
                    # What ``full`` draws depends on what is asked.
                    asked = first.get(mutant.name) if profile == "quick" else None
                    facts = playing(*played, (asked,)) if asked else {"caught": False}
                    if not facts["caught"]:
                        facts = playing(*played)
                    result = Result(mutant.name, mutant.family, profile, **facts)
                    known[mutant.name, profile] = result
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(dataclasses.asdict(result)) + "\n")
                wanted.append(result)
                print(line(result), flush=True)
    return wanted


def found_before() -> dict[str, str]:
    """Return the requirement that each mutant of the last run failed."""
    results = json.loads(BEFORE.read_text(encoding="utf-8"))["results"]
    return {r["name"]: r["requirement"] for r in results if r["requirement"] in judges.REGISTRY}


def read(kept: Path) -> list[Result]:
    """Return the results that a file has."""
    if not kept.exists():
        return []
    lines = kept.read_text(encoding="utf-8").splitlines()
    return [Result(**json.loads(text)) for text in lines]


def line(result: Result) -> str:
    """Return a result in one line."""
    said = "NOT CAUGHT"
    if result.caught:
        said = f"{result.requirement} {result.outcome}, case {result.number}"
    elif result.trouble:
        said = result.trouble
    return f"{result.profile:5} {result.name}: {said} [{result.seconds:.0f} s]"


def rate(results: Iterable[Result]) -> dict[str, int]:
    """Return how many there are, and how many were caught; a loader that cannot run is seen."""
    found = [result.red for result in results]
    return {"mutants": len(found), "caught": sum(found)}


def summary(results: Sequence[Result]) -> dict[str, Any]:
    """Return the rates of each profile, with and without its families, and each mutant's result."""
    profiles: dict[str, Any] = {}
    for profile in PROFILES:
        # What quick calls red is red in full: full plays quick's cases as well.
        red = {r.name for r in results if r.profile == "quick" and r.red}
        here = [r for r in results if r.profile == profile]
        if profile == "full" and here:
            here += [r for r in results if r.name in red and r.profile == "quick"]
            here = list({r.name: r for r in here}.values())
        if not here:
            continue
        families = sorted({r.family for r in here})
        profiles[profile] = {
            **rate(here),
            "families": {f: rate(r for r in here if r.family == f) for f in families},
        }
    return {
        "commit": _commit(),
        "profiles": profiles,
        "results": [
            {key: value for key, value in dataclasses.asdict(r).items() if key != "words"}
            for r in sorted(results, key=lambda r: (r.profile != "quick", r.name))
        ],
    }


def _commit() -> str:
    asked = ["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    return answer.stdout.strip()


def show(made: Mapping[str, Any]) -> None:
    """Print the rates."""
    for profile, found in made["profiles"].items():
        share = 100 * found["caught"] / found["mutants"]
        print(f"\n{profile}: {found['caught']} of {found['mutants']} caught ({share:.0f} %)")
        for family, part in found["families"].items():
            print(f"    {family}: {part['caught']} of {part['mutants']}")
    by = Counter(r["requirement"] for r in made["results"] if r["caught"])
    print("\ncaught by " + ", ".join(f"{name} ({count})" for name, count in by.most_common()))


def main() -> None:
    """Play mutants through whole profiles and print how many are caught."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants; all of them if none")
    parser.add_argument("--untuned", action="store_true", help="only those of the folder untuned")
    parser.add_argument("--broken", type=Path, metavar="FOLDER", help="only those of a folder")
    parser.add_argument("--family", action="append", default=[], help="only this sort of bug")
    parser.add_argument("--profile", nargs="+", default=["quick"], choices=PROFILES)
    parser.add_argument(
        "--missed", action="store_true", help="play through full only what quick has missed"
    )
    parser.add_argument("--jobs", type=int, default=1, help="cases that are played at a time")
    parser.add_argument("--kept", type=Path, default=Path("detection.jsonl"), metavar="FILE")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="write all of it as JSON")
    options = parser.parse_args()
    known = {**tuned(), **untuned(), **independent()}
    if options.broken:
        known = independent(options.broken)
    elif options.untuned:
        known = {**untuned(), **independent()}
    unknown = [name for name in options.names if name not in known]
    if unknown:
        sys.exit(f"there is no mutant {', '.join(unknown)}: each is a file")
    chosen = [known[name] for name in options.names or known]
    chosen = [m for m in chosen if not options.family or m.family in options.family]
    made = summary(measured(chosen, options.profile, options.kept, options.missed, options.jobs))
    show(made)
    if options.summary is not None:
        options.summary.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
