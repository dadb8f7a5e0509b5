"""``midepoch replay``: one case again, step by step."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from midepoch_conformance.case.case import Case, CaseError
from midepoch_conformance.case.words import describe
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.families.offered import cases_for
from midepoch_conformance.playing.bench import Bench
from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.file import read_report
from midepoch_conformance.report.timeline import draw as drawing_of
from midepoch_conformance.report.wording import batches_words
from midepoch_conformance.run.check import draw, open_benches
from midepoch_conformance.run.committed import committed_cases
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.run.smoke import smoke
from midepoch_conformance.text import clipped, meant, printable, without_process_ids
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.delivered import Delivered
from midepoch_conformance.verdict.results import CaseResult, failing

__all__ = ["find_case", "replay"]

_SHOWN = 1200
_ID = re.compile("[0-9a-f]{1,12}")
_NAMED = 5
"""The most ids that a message names."""
_TELLING, _NEAR = 8, 0.8
"""So many digits, of which such a part is right, are no accident among thousands of ids."""


def find_case(
    name: str,
    report: Path | None = None,
    bench: Bench | None = None,
    say: Callable[[str], None] = lambda words: None,
) -> Case:
    """Return the case whose id begins with ``name``: of a report, of the tables, or drawn.

    Args:
        name: the id, or its beginning.
        report: the report that has the case.
        bench: draws the cases that a profile draws for its loader, if the tables have none.
        say: told before that, as it takes long.

    Raises:
        CheckError: there is none, or there are several.
    """
    if not _ID.fullmatch(name.lower()):
        # The search among drawn cases takes long.
        raise CheckError(
            f"{name!r} is no case's id",
            "an id has 12 digits of 0 to 9 and a to f, or is their beginning; the line `again` of "
            "a failure has it",
        )
    found = dict(_of_report(report) if report is not None else committed_cases())
    ids = [one for one in found if one.startswith(name.lower())]
    near = [] if ids else _nearly(name, found)
    if near and report is None:
        raise CheckError(
            f"there is no case {name!r} in the tables",
            f"did you mean {' or '.join(map(repr, near))}?",
        )
    place = str(report) if report is not None else "the tables"
    for profile in tables.PROFILES:
        if not ids and report is None and bench is not None:
            place = "the tables and the drawn cases"
            long = ", which takes a minute or more" if profile == "full" else ""
            say(f"looking for {name} among the cases that {profile} draws for this loader{long}")
            found |= _drawn(bench, profile)
            ids = [one for one in found if one.startswith(name.lower())]
    if len(ids) == 1 or name.lower() in found:
        return found[name.lower() if name.lower() in found else ids[0]]
    if ids:
        more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
        raise CheckError(
            f"{place}: {len(ids)} cases begin with {name!r}",
            f"type more digits of one of them: {', '.join(ids[:_NAMED])}{more}",
        )
    hint = "only its report has a case that was explored or made smaller: --report FILE"
    if report is not None:
        hint = f"`midepoch report {report}` shows the ids"
    raise CheckError(
        f"there is no case {name!r} in {place}",
        f"{meant(name, found)} the line `again` of a failure has its id; {hint}".strip(),
    )


def _nearly(name: str, ids: Iterable[str]) -> list[str]:
    """Return the ids of which one or two digits were typed wrong.

    A few digits alone resemble many ids.
    """
    if len(name) < _TELLING:
        return []
    beginnings = {one[: len(name)]: one for one in ids}
    near = difflib.get_close_matches(name.lower(), beginnings, n=_NAMED, cutoff=_NEAR)
    return [beginnings[one] for one in near]


def _drawn(bench: Bench, profile: str) -> dict[str, Case]:
    """Return the cases that a profile draws for a loader; they are the same in each run."""
    cases, _ = draw(profile, bench, None)
    return {case.id: case for case in cases_for(bench.info, cases)}


def _of_report(path: Path) -> Iterator[tuple[str, Case]]:
    for line in read_report(path, interrupted=True):
        parts = [line, *line.get("failures", ()), *line.get("known", ())]
        for part in parts:
            if "case" in part and "id" in part:
                try:
                    yield part["id"], Case.from_json(part["case"])
                except CaseError as error:
                    raise CheckError(f"{path}: case {part['id']}: {error}") from error


def replay(settings: Settings, name: str, report: Path | None, console: Console) -> int:
    """Play a case, print its steps and its verdict, and return the exit status.

    Raises:
        CheckError: there is no such case, or nothing can be played.
    """
    with open_benches(settings) as benches:
        bench = benches[0]
        case = find_case(name, report, bench, lambda words: print(words, file=sys.stderr))
        smoke(bench)
        own = bench.info.function
        console.print(Text.assemble((case.id, "bold"), f"  {describe(case, own)}"))
        reason = bench.not_offered(case)
        if reason is not None:
            console.print(Text(f"\nnot offered: {reason}", "yellow"))
            return 2
        played = bench.delivered(case)
        if played is not None:
            _show_play(played, console)
        return _show_verdict(bench, case, console)


def _show_play(played: Delivered, console: Console) -> None:
    data = played.to_json()
    whole = played.uninterrupted
    for number, epoch in enumerate(whole):
        console.print(Text(f"\nuninterrupted run, epoch {number}: {len(epoch)} batches", "bold"))
        console.print(Padding(_batches(epoch), (0, 0, 0, 2)))
    for number, session in enumerate(played.sessions, start=1):
        console.print(Text(f"\nsession {number}, {session['words']}", "bold"))
        for step in session["steps"]:
            console.print(_step(step, whole))
    drawing = drawing_of(data)
    if drawing.tells:
        lines = Text(printable(drawn_text(drawing, console.width - 2)), no_wrap=True)
        console.print(Padding(lines, (1, 0, 0, 2)), overflow="ellipsis", no_wrap=True)


def _step(step: Mapping[str, Any], whole: list[list[list[Any]]]) -> Padding:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("step", Text(printable(step["words"]), "bold"))
    epoch, at = step.get("epoch", 0), step.get("at", 0)
    if "batches" in step:
        got = step["batches"]
        due = whole[epoch][at:] if epoch < len(whole) else []
        # A step asks for a number of batches: the rest of the epoch is not due yet.
        due = due if step.get("ended") or step["do"] == "drain" else due[: len(got)]
        same = got == due
        grid.add_row("place", f"epoch {epoch}, after {at} batches")
        grid.add_row("delivered", _batches(got, "" if same else "red"))
        if not same:
            grid.add_row("expected", _batches(due, "green"))
    if step.get("ended"):
        grid.add_row("", "the end of the epoch")
    if step.get("fault"):
        grid.add_row("error", Text(printable(step["fault"]), "red"))
    return Padding(grid, (0, 0, 0, 2))


def _batches(batches: list[list[Any]], style: str = "") -> Text:
    words = batches_words([[[one] for one in batch] for batch in batches])
    return Text(clipped(without_process_ids(words), _SHOWN), style)


def _show_verdict(bench: Bench, case: Case, console: Console) -> int:
    result = bench.judge(case)
    console.print(Text("\nverdict", "bold"))
    for finding in result.findings:
        style = "red" if failing(finding) else "green" if finding.outcome == "pass" else "yellow"
        way = f"{finding.outcome} ({finding.kind})" if finding.kind else finding.outcome
        console.print(Text.assemble(f"  {finding.requirement} ", (way, style)))
        text = requirements.get(finding.requirement).text
        facts = [text, finding.words] if finding.outcome != "pass" else [text]
        for words in filter(None, facts):
            console.print(Padding(Text(printable(without_process_ids(words))), (0, 0, 0, 4)))
    return _status(result)


def _status(result: CaseResult) -> int:
    if any(map(failing, result.findings)):
        return 1
    return 0 if any(f.outcome in ("pass", "refused") for f in result.findings) else 2
