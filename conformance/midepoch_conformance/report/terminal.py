"""A check on a terminal: its progress, the table, the failures, the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from midepoch_conformance.report import overview
from midepoch_conformance.report.document import Document, Failure
from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.lines import header_of
from midepoch_conformance.report.timeline import draw
from midepoch_conformance.report.wording import (
    batches_words,
    cell_words,
    kinds_words,
    not_offered_words,
    replay_words,
)
from midepoch_conformance.run.committed import committed_cases
from midepoch_conformance.run.events import (
    CasesJudged,
    Event,
    Investigating,
    Replaying,
    Started,
)
from midepoch_conformance.text import clipped, counted, printable, without_process_ids
from midepoch_conformance.verdict.results import failing

__all__ = ["PlainProgress", "Quiet", "RichProgress", "progress_for", "show_report"]

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
_LINES, _VALUE = 10, 400
_REASONS = 8
_STACKS = 24
"""The most lines of stacks that are shown; the other reports have all."""
_NAME_WIDTH, _CELL_WIDTH = 13, 24


class Quiet:
    """Shows no progress."""

    def __call__(self, event: Event) -> None:
        """Ignore ``event``."""

    def close(self) -> None:
        """Do nothing."""


class PlainProgress:
    """Prints a line at every tenth of the cases, for logs."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._failing = 0
        self._begun = False

    def __call__(self, event: Event) -> None:
        """Print ``event``."""
        if isinstance(event, Started):
            if not self._begun:
                self._say(_beginning(event))
            self._begun = True
        elif isinstance(event, CasesJudged):
            self._failing += _fails(event)
            tenth = max(1, event.cases // _LINES)
            played = event.result.reason is None
            if played and (event.done % tenth == 0 or event.done == event.cases):
                words = f"{event.done:,} of {counted(event.cases, 'case')}"
                self._say(f"{words}, {self._failing:,} failing")
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
        self._begun = False
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
            if not self._begun:  # each round of `explore` is started
                self._console.print(escape(_beginning(event)), highlight=False)
            self._begun = True
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


def show_report(
    document: Document,
    console: Console,
    quiet: bool = False,
    verbose: bool = False,
    path: Path | None = None,
) -> None:
    """Print a report: the failures, the table, what is not offered, the verdict.

    Known failures that no longer fail are printed even when ``quiet``: they break the run.

    Args:
        document: the report.
        console: the terminal.
        quiet: print only the last line, and before it what to do if nothing could be judged.
        verbose: print first the pairs of values that no drawn history plays together.
        path: the report's file, if it has one.
    """
    if verbose:
        _print_unreached(document, console)
    if not quiet:
        for number, failure in enumerate(document.footer.failures, start=1):
            _print_failure(number, failure, document, console, path)
        console.print(_table(document, console.width))
        _print_reasons(document, console)
    _print_known(document, console, quiet)
    if quiet:
        _print_what_to_do(document, console)
    else:
        _print_advice(document, console)
        console.print()
    # One line, however wide the terminal is: scripts read it.
    console.print(_verdict(document), soft_wrap=True)


def _print_unreached(document: Document, console: Console) -> None:
    """Print the pairs of values that no drawn history plays together, by their reasons."""
    pairs: dict[str, list[str]] = {}
    for one in (document.header.drawn or {}).get("unreached", ()):
        words = " with ".join(
            f"{axis} {'none' if value in (None, '') else value}" for axis, value in one["pair"]
        )
        pairs.setdefault(one["reason"], []).append(words)
    for reason, found in pairs.items():
        console.print(Text(f"not played together, as {printable(reason)}:"), soft_wrap=True)
        console.print(Padding(Text(printable("; ".join(found)), "dim"), (0, 0, 0, 2)))


def _beginning(event: Started) -> str:
    """Return the line that tells what is judged; an exploration has no number of cases."""
    header = header_of(event.facts)
    title = _line(header.loader.title)
    if header.cases is None:
        return f"exploring {title}"
    done = f", {event.done:,} of them judged already" if event.done else ""
    words = f"checking {title}: {counted(event.cases, 'case')}{done}"
    left = header.cases - event.cases
    return f"{words}; {left:,} {not_offered_words(header.loader)}" if left else words


def _table(document: Document, width: int) -> Group:
    """Return the table: a line a class with its coverage, and one for each requirement.

    A kind of workload that is not offered at all has no column: its reason is printed below.
    Classes and requirements that are not offered share a line.
    """
    kinds = overview.kinds(document)
    cell = min(_CELL_WIDTH, (width - _NAME_WIDTH) // max(1, len(kinds)) - 1)
    head = _grid(len(kinds), cell)
    head.add_row("", *(Text(_line(kinds_words([kind])), "bold") for kind in kinds))
    parts: list[Table | Text] = [head] if kinds else []
    for view in overview.class_views(document):
        if not view.offered:
            continue
        parts.append(
            Text.assemble((_line(view.entry.name), "bold"), "  ", (_line(view.entry.words), "dim"))
        )
        grid = _grid(len(kinds), cell)
        for requirement in view.offered:
            found = {row.kind: row for row in requirement.rows if row.kind in kinds}
            if found:
                words = [
                    Text(
                        cell_words(found[kind].outcome, found[kind].counts),
                        _STYLES.get(found[kind].outcome, ""),
                    )
                    if kind in found
                    else Text("")
                    for kind in kinds
                ]
                grid.add_row(f"  {requirement.id}", *words)
        parts.append(grid)
        if view.left_out:
            parts.append(Text(f"  not offered: {', '.join(view.left_out)}", "dim"))
    folded = overview.left_out(document)
    if folded:
        parts.append(
            Text(f"{not_offered_words(document.header.loader)}: {', '.join(folded)}", "dim")
        )
    return Group(*parts)


def _grid(columns: int, width: int) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=_NAME_WIDTH, no_wrap=True)
    for _ in range(columns):
        grid.add_column(width=width)
    return grid


def _print_reasons(document: Document, console: Console) -> None:
    """Print why cases were not judged, or were refused, each reason once."""
    found = overview.reasons(document)
    for outcome in ("not offered", "refused", "error", overview.COMPANY):
        if outcome not in found:
            continue
        console.print(f"{outcome}:", style=_STYLES.get(outcome, "yellow"))
        for reason in found[outcome][:_REASONS]:
            text = Text(f"{counted(reason.cases, 'case')}: {_shown(reason.words)}", "dim")
            console.print(Padding(text, (0, 0, 0, 2)))
        rest = len(found[outcome]) - _REASONS
        if rest > 0:
            console.print(Text(f"  and {counted(rest, 'other reason')}", "dim"))


def _print_failure(
    number: int, failure: Failure, document: Document, console: Console, path: Path | None
) -> None:
    head = Text.assemble(
        f"\n{number}. ",
        (failure.requirement, "bold"),
        " ",
        (_line(failure.way), _STYLES.get(failure.outcome, "")),
        f" on {_line(kinds_words(failure.workload_kinds))} data, {counted(failure.cases, 'case')}",
    )
    facts = [("case", failure.case_words), ("shown", failure.words)]
    if failure.also:
        facts.insert(1, ("also with", "; ".join(failure.also)))
    facts += [
        (name, clipped(without_process_ids(words), _VALUE))
        for name, value in (("expected", failure.expected), ("got", failure.got))
        if (words := batches_words(value))
    ]
    if failure.worst:
        facts.append(("worst", failure.worst))
    if failure.script or failure.script_note:
        facts.append(("script", failure.script or failure.script_note))
    if failure.script and failure.script_note:
        facts.append(("note", failure.script_note))
    facts.append(("again", _again(failure, document, path)))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(name, Text(printable(value)))
    console.print(Group(head, Padding(grid, (0, 0, 0, 3))))
    if failure.stacks:
        shown = failure.stacks.splitlines()
        rest = [f"and {counted(len(shown) - _STACKS, 'more line')}"] if len(shown) > _STACKS else []
        told = Text(printable("\n".join([*shown[:_STACKS], *rest])), "dim")
        console.print(Padding(told, (0, 0, 0, 3)))
    drawing = draw(failure.delivered)
    if drawing.tells:
        # A line of a drawing that is folded shows nothing: a narrow terminal cuts it.
        lines = Text(printable(drawn_text(drawing, console.width - 3)), no_wrap=True)
        console.print(Padding(lines, (1, 0, 0, 3)), overflow="ellipsis", no_wrap=True)
    console.print()


def _again(failure: Failure, document: Document, path: Path | None) -> str:
    """Return the command that plays a failure's case again, and how to get the report it needs."""
    if path is not None:
        return replay_words(document.header, failure, str(path))
    words = replay_words(document.header, failure)
    if "--report" not in words:
        return words
    if failure.id in committed_cases():
        return replay_words(document.header, failure, None)
    return f"{words} (--json FILE writes it)"


def _print_advice(document: Document, console: Console) -> None:
    """Print what it costs that no resume could be judged, and what to do."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="yellow", no_wrap=True)
    grid.add_column()
    for title, words in overview.advice(document):
        grid.add_row(title, words)
    if grid.row_count:
        console.print()
        console.print(grid)


def _print_what_to_do(document: Document, console: Console) -> None:
    """Print the last advice on one line."""
    for title, words in overview.advice(document)[-1:]:
        console.print(Text(f"{title}: {words}", "yellow"), soft_wrap=True)


def _line(text: str) -> str:
    return printable(text, lines=False)


def _shown(value: object, limit: int = 400) -> str:
    text = printable(without_process_ids(value if isinstance(value, str) else repr(value)))
    return text if len(text) <= limit else text[:limit] + "..."


def _print_known(document: Document, console: Console, quiet: bool) -> None:
    """Print the known failures, and those that no longer fail."""
    known = document.footer.known
    if not quiet and any(one.holds for one in known):
        console.print("known failures:", style="yellow")
    for one in known:
        if one.holds and not quiet:
            kinds = kinds_words(one.workload_kinds or (one.case["workload"].get("kind", "map"),))
            head = f"{one.requirement} {one.outcome} on {kinds} data"
            words = f"{head}, {counted(one.cases, 'case')}: {one.link}\n  {one.reason}"
            console.print(Padding(Text(printable(words), "dim"), (0, 0, 0, 2)))
    for one in known:
        if not one.holds:
            console.print(Text(printable(one.changed), "bold red"), soft_wrap=True)


def _verdict(document: Document) -> Text:
    """Return the last line: the verdict, with the requirements that fail."""
    words = overview.verdict(document)
    names = overview.failing_requirements(document)
    if names:
        first, *rest = words.partition("; ")
        words = f"{first}: {', '.join(names)}{''.join(rest)}"
    status = document.footer.status
    style = {0: "bold green", 1: "bold red"}.get(status, "bold yellow")
    if not status and not overview.kinds(document):
        style = "bold yellow"
    title = _line(document.header.loader.title)
    return Text.assemble(f"{title}: ", (_line(words), style), _explored(document))


def _explored(document: Document) -> str:
    """Return how many drawn cases were judged, if cases were drawn."""
    if document.header.profile != "explore":
        return ""
    judged = [case for case in document.cases if case.not_offered is None]
    workers = sum(case.has_workers for case in judged)
    return f"; {len(judged)} explored, {workers} of them with workers"


def _fails(event: CasesJudged) -> bool:
    return any(map(failing, event.result.findings))
