"""The commands that read reports and states, ``matrix``, and those of other installed parts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midepoch_conformance.errors import CheckError
from midepoch_conformance.matrix.command import app as matrix

__all__ = ["register"]

COMMANDS = "midepoch.commands"
"""The group of entry points whose functions are commands, such as ``midepoch bench``."""


_HELP = {
    "report": (
        "Show a report, or write it as a page, Markdown or badges.",
        "Example: midepoch report report.jsonl --html report.html",
    ),
    "diff": (
        "Compare two reports of a loader.",
        "Example: midepoch diff before.jsonl after.jsonl",
    ),
    "inspect": (
        "Show a saved state of midepoch's format.",
        "Example: midepoch inspect checkpoint.pt --key trainer.loader",
    ),
    "bench": (
        "Measure what a loader costs beside other loaders.",
        "Example: midepoch bench --peer torch --quick",
    ),
}
"""The line of each command in the list of commands, and its example."""


def register(app: typer.Typer) -> None:
    """Add the commands to the command line, with those of other installed parts."""
    commands: dict[str, Callable[..., None]] = {"report": report, "diff": diff}
    commands["inspect"] = inspect_
    for point in sorted(entry_points(group=COMMANDS), key=lambda point: point.name):
        commands[point.name] = point.load()
    for name, command in commands.items():
        line, example = _HELP.get(name, (None, None))
        app.command(name, short_help=line, epilog=example)(command)
    app.add_typer(matrix, name="matrix")


def report(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The report, as `midepoch check LOADER --json FILE` wrote it.",
            show_default=False,
        ),
    ],
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write it as one web page.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="Write it as Markdown, for a comment on a pull request.",
        ),
    ] = None,
    badge: Annotated[
        Path | None,
        typer.Option(
            "--badge", metavar="DIR", help="Write SVG badges into DIR: one per class, one overall."
        ),
    ] = None,
) -> None:
    """Show a report in the terminal, or write it as a page, a comment or badges.

    The report of a run that was stopped is shown as what it is. Exit status: 0 if it could be
    read, 2 if not.
    """
    # Imported here: the other commands need no template engine.
    from midepoch_conformance.report.badge import write_badges
    from midepoch_conformance.report.file import load_report
    from midepoch_conformance.report.markdown import markdown as as_markdown
    from midepoch_conformance.report.page import html_page
    from midepoch_conformance.report.terminal import show_report

    document = load_report(file, stopped=True)
    if html is None and markdown is None and badge is None:
        show_report(document, Console(), path=file)
        return
    if badge is not None and badge.exists() and not badge.is_dir():
        raise CheckError(f"--badge {badge} is a file", "name a folder")
    if html is not None:
        _write("--html", html, lambda: html_page(document))
    if markdown is not None:
        _write("--markdown", markdown, lambda: as_markdown(document))
    if badge is not None:
        paths = write_badges(document, badge)
        print(f"{len(paths)} badges in {badge}")


def diff(
    old: Annotated[
        Path, typer.Argument(metavar="OLD", help="The earlier report.", show_default=False)
    ],
    new: Annotated[
        Path, typer.Argument(metavar="NEW", help="The later report.", show_default=False)
    ],
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Also write the difference as Markdown."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare reports of different loaders.")
    ] = False,
) -> None:
    """Compare two reports.

    Exit status: 0 if nothing broke; 1 if a requirement that held no longer holds; 2 if the reports
    cannot be compared.
    """
    from midepoch_conformance.report.diff import diff_markdown, report_diff, show_diff
    from midepoch_conformance.report.file import load_report

    found = report_diff(load_report(old), load_report(new), force)
    show_diff(found, Console())
    if markdown is not None:
        _write("--markdown", markdown, lambda: diff_markdown(found))
    raise typer.Exit(found.status)


def inspect_(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STATEFILE",
            help="A saved state, or a checkpoint with states in it, as JSON or by torch.save.",
            show_default=False,
        ),
    ],
    key: Annotated[
        str,
        typer.Option(
            "--key", metavar="PATH", help="Look only at this place, such as trainer.loader."
        ),
    ] = "",
) -> None:
    """Show the content of a saved state of midepoch's format, and whether it is valid.

    Exit status: 0 if it is valid; 1 if not; 2 if the file has no state.
    """
    from midepoch_conformance.states import files, view

    valid = view.show_states(file, files.read_states(file, key), Console())
    raise typer.Exit(0 if valid else 1)


def _write(option: str, path: Path, made: Callable[[], str]) -> None:
    if path.is_dir():
        raise CheckError(f"{option} {path} is a folder", "name a file")
    text = made()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: {len(text.encode()):,} bytes")
