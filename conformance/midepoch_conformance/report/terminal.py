"""What a check looks like on a terminal: progress, the table, the failures."""

from __future__ import annotations

import collections
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from midepoch_conformance.case.workload import KINDS
from midepoch_conformance.families.tables import has_workers
from midepoch_conformance.report.lines import settled
from midepoch_conformance.run.events import (
    CasesJudged,
    Event,
    Failure,
    Investigating,
    Replaying,
    Started,
)
from midepoch_conformance.run.summary import failing
from midepoch_conformance.text import printable

if TYPE_CHECKING:
    from midepoch_conformance.run.check import Check

__all__ = ["PlainProgress", "Quiet", "RichProgress", "progress_for", "show_check"]

_STYLES = {
    "pass": "green",
    "refused": "yellow",
    "not offered": "dim",
    "blocked": "magenta",
    "fails silently": "bold red",
    "fails": "red",
    "unstable": "red",
    "error": "bold yellow",
}
_LINES = 10
_REASONS = 8
_NAME_WIDTH, _CELL_WIDTH = 13, 24


class Quiet:
    """Says nothing while a check runs."""

    def __call__(self, event: Event) -> None:
        """Ignore ``event``."""

    def close(self) -> None:
        """Do nothing."""


class PlainProgress:
    """A line at every tenth of the cases, for logs."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._failing = 0

    def __call__(self, event: Event) -> None:
        """Tell ``event``."""
        if isinstance(event, Started):
            loader = event.header["loader"]
            done = f", {event.done} of them judged already" if event.done else ""
            self._say(f"checking {loader_words(loader)}: {event.cases} cases{done}")
        elif isinstance(event, CasesJudged):
            self._failing += _fails(event)
            tenth = max(1, event.cases // _LINES)
            if event.done % tenth == 0 or event.done == event.cases:
                self._say(f"{event.done} of {event.cases} cases, {self._failing} failing")
        elif isinstance(event, Investigating):
            self._say(
                f"failure {event.number} of {event.failures}: {event.requirement} "
                f"({event.workload_kind}): {event.doing}"
            )
        elif isinstance(event, Replaying):
            self._say(f"known failure {event.number} of {event.entries}: {event.requirement}")

    def close(self) -> None:
        """Do nothing: each line is complete."""

    def _say(self, text: str) -> None:
        print(text, file=self._file, flush=True)


class RichProgress:
    """A bar that goes away when the check has ended."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._failing = 0
        self._bar = Progress(
            TextColumn("[progress.description]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("starting the loader's Python", total=None, note="")
        self._bar.start()

    def __call__(self, event: Event) -> None:
        """Show ``event``."""
        if isinstance(event, Started):
            self._console.print(
                f"checking {escape(loader_words(event.header['loader']))}", highlight=False
            )
            self._bar.update(
                self._task, description="cases", total=event.cases, completed=event.done
            )
        elif isinstance(event, Replaying):
            note = f"known failure {event.number} of {event.entries}: {event.requirement}"
            self._bar.update(self._task, note=note)
        elif isinstance(event, CasesJudged):
            self._failing += _fails(event)
            note = f"[red]{self._failing} failing[/]" if self._failing else ""
            self._bar.update(self._task, completed=event.done, note=note)
        elif isinstance(event, Investigating):
            self._bar.update(
                self._task,
                description="failures",
                total=event.failures,
                completed=event.number - 1,
                note=f"{event.requirement} {event.workload_kind}: {event.doing}",
            )

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def progress_for(console: Console, quiet: bool) -> Quiet | PlainProgress | RichProgress:
    """Return the progress display that suits ``console``."""
    if quiet:
        return Quiet()
    return RichProgress(console) if console.is_terminal else PlainProgress(console.file)


def show_check(check: Check, console: Console, quiet: bool = False) -> None:
    """Print what came of a check: the table, what is not offered, the failures, the verdict.

    Known failures that fail no more are told even when ``quiet``: they break the run.
    """
    if not quiet:
        console.print(_table(check, console.width))
        _print_reasons(check, console)
        for number, failure in enumerate(check.failures, start=1):
            console.print(_failure(number, failure))
    _print_known(check, console, quiet)
    console.print(_verdict(check))


def loader_words(loader: Mapping[str, Any]) -> str:
    """Return a loader's name and version in words."""
    name, version = loader.get("name"), loader.get("version")
    return printable(f"{name} {version}" if version else str(name), lines=False)


def _table(check: Check, width: int) -> Group:
    """Return the table: a line a class with what it covers, and one for each requirement.

    A kind of workload that is not offered at all has no column: its reason is told below.
    """
    rows = check.summary.rows
    offered = {row.workload for row in rows if row.outcome != "not offered"}
    kinds = [kind for kind in KINDS if kind in offered]
    cell = min(_CELL_WIDTH, (width - _NAME_WIDTH) // max(1, len(kinds)) - 1)
    head = _grid(len(kinds), cell)
    head.add_row("", *(Text(kind.replace("_", " "), "bold") for kind in kinds))
    parts: list[Table | Text] = [head]
    cells = {(row.requirement, row.workload): row for row in rows}
    for entry in check.summary.classes:
        parts.append(Text.assemble((entry.name, "bold"), "  ", (entry.words, "dim")))
        grid = _grid(len(kinds), cell)
        for requirement in entry.requirements:
            found = [cells.get((requirement, kind)) for kind in kinds]
            if any(found):
                words = [Text("") if r is None else _cell(r.outcome, r.counts) for r in found]
                grid.add_row(f"  {requirement}", *words)
        parts.append(grid)
    return Group(*parts)


def _grid(columns: int, width: int) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=_NAME_WIDTH, no_wrap=True)
    for _ in range(columns):
        grid.add_column(width=width)
    return grid


def _cell(outcome: str, counts: Mapping[str, int]) -> Text:
    asked = sum(count for name, count in counts.items() if name != "not offered")
    style = _STYLES.get(outcome, "")
    if outcome == "not offered":
        return Text("not offered", style)
    count = counts.get(outcome, 0)
    number = f"{count}" if count == asked else f"{count} of {asked}"
    return Text(f"{outcome} {number}", style)


def _print_reasons(check: Check, console: Console) -> None:
    """Print why cases were not judged, or were refused, each reason once."""
    for outcome in ("not offered", "refused", "error"):
        reasons: collections.Counter[str] = collections.Counter()
        for result in check.results:
            words = {settled(f.words) for f in result.findings if f.outcome == outcome}
            reasons.update(words)
        if not reasons:
            continue
        console.print(f"{outcome}:", style=_STYLES[outcome])
        for reason, count in reasons.most_common(_REASONS):
            text = Text(f"{_cases(count)}: {_shown(reason)}", "dim")
            console.print(Padding(text, (0, 0, 0, 2)))
        if len(reasons) > _REASONS:
            console.print(Text(f"  and {len(reasons) - _REASONS} other reasons", "dim"))


def _cases(count: int) -> str:
    return "1 case" if count == 1 else f"{count} cases"


def _failure(number: int, failure: Failure) -> Group:
    finding = failure.finding
    kind = f" ({finding.kind})" if finding.kind else ""
    head = Text.assemble(
        f"\n{number}. ",
        (finding.requirement, "bold"),
        " ",
        (f"{finding.outcome}{kind}", _STYLES.get(finding.outcome, "")),
        f" on {', '.join(failure.workload_kinds).replace('_', ' ')} data, {_cases(failure.cases)}",
    )
    facts = [("case", failure.words), ("shown", settled(finding.words))]
    facts += [
        (name, _shown(value))
        for name, value in (("expected", finding.expected), ("got", finding.got))
        if value not in (None, "")
    ]
    facts.append(("script", failure.script or failure.script_note or "none"))
    if failure.script and failure.script_note:
        facts.append(("note", failure.script_note))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(name, Text(printable(value)))
    return Group(head, Padding(grid, (0, 0, 0, 3)))


def _shown(value: object, limit: int = 400) -> str:
    text = printable(settled(value if isinstance(value, str) else repr(value)))
    return text if len(text) <= limit else text[:limit] + "..."


def _print_known(check: Check, console: Console, quiet: bool) -> None:
    """Print the known failures, and those that fail no more."""
    holding = [replayed for replayed in check.known if replayed.holds and not quiet]
    if holding:
        console.print("known failures:", style="yellow")
    for replayed in holding:
        finding, entry = replayed.finding, replayed.entry
        kinds = ", ".join(replayed.workload_kinds or (entry.case.workload.kind,))
        head = f"{finding.requirement} {finding.outcome} on {kinds.replace('_', ' ')} data"
        told = printable(f"{head}, {_cases(replayed.cases)}: {entry.link}\n  {entry.reason}")
        text = Text(told, "dim")
        console.print(Padding(text, (0, 0, 0, 2)))
    for replayed in check.known:
        if not replayed.holds:
            words = printable(settled(replayed.words))
            console.print(Text(words, "bold red"), soft_wrap=True)


def _verdict(check: Check) -> Text:
    """Return the last line: what the check comes to."""
    name = loader_words(check.header["loader"])
    words, style = _judgement(check)
    mended = sum(replayed.broken for replayed in check.known)
    if mended:
        words, style = f"{words}; {_known(mended, 'fails', 'fail')} no more", "bold red"
    return Text.assemble(f"\n{name}: ", (words, style), _explored(check))


def _explored(check: Check) -> str:
    """Return how many drawn cases were judged, where they were drawn."""
    if check.header.get("profile") != "explore":
        return ""
    judged = [result.case for result in check.results if result.reason is None]
    return f"; {len(judged)} explored, {sum(map(has_workers, judged))} of them with workers"


def _judgement(check: Check) -> tuple[str, str]:
    rows = check.summary.rows
    broken = sorted({failure.finding.requirement for failure in check.failures})
    asked = {row.requirement for row in rows if row.outcome != "not offered"}
    if broken:
        return f"{len(broken)} of {len(asked)} requirements fail: {', '.join(broken)}", "bold red"
    if check.summary.errors:
        return f"{check.summary.errors} cases could not be judged (error)", "bold yellow"
    unjudged = sum(replayed.finding.outcome == "error" for replayed in check.known)
    if unjudged:
        return f"{_known(unjudged)} could not be judged (error)", "bold yellow"
    refused = sum(row.counts.get("refused", 0) for row in rows)
    judged = "1 requirement was" if len(asked) == 1 else f"{len(asked)} requirements were"
    holding = sum(replayed.holds for replayed in check.known)
    but = f" but for {_known(holding)}" if holding else ""
    words = f"no MUST fails{but}; {judged} judged by {_cases(len(check.results))}"
    extra = f"; {refused} refusals" if refused else ""
    return words + extra, "bold green"


def _known(count: int, one: str = "", more: str = "") -> str:
    noun = "known failure" if count == 1 else "known failures"
    return f"{count} {noun} {one if count == 1 else more}".strip()


def _fails(event: CasesJudged) -> bool:
    return any(map(failing, event.result.findings))
