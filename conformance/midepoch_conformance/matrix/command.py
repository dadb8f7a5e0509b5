"""``midepoch matrix``: put the loaders of the matrix to the suite, and render what came out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midepoch_conformance.matrix.playing import Places, Played, play
from midepoch_conformance.matrix.rows import ENVIRONMENTS, named
from midepoch_conformance.report.file import load_report
from midepoch_conformance.report.overview import verdict
from midepoch_conformance.text import printable

__all__ = ["app"]

LOCKS, RESULTS = Path("conformance/environments"), Path("conformance/results")
PAGES = Path("docs/matrix")
_STOPPED = 130


app = typer.Typer(
    short_help="Put the loaders that people use to the suite.",
    epilog="Example: midepoch matrix --loader torchdata,nodes --profile quick",
    invoke_without_command=True,
)
"""The command, with its command ``render``."""


@app.callback()
def matrix(
    context: typer.Context,
    loader: Annotated[
        list[str] | None,
        typer.Option(
            "--loader", metavar="ROW", help="Play only this row; repeat, or separate by commas."
        ),
    ] = None,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="The cases to play: quick or full.")
    ] = "full",
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the reports.")
    ] = RESULTS,
    locks: Annotated[
        Path, typer.Option("--locks", metavar="DIR", help="The folder of the environments' locks.")
    ] = LOCKS,
    environments: Annotated[
        Path,
        typer.Option(
            "--environments", metavar="DIR", help="Where the virtual environments are made."
        ),
    ] = Path(ENVIRONMENTS),
    again: Annotated[
        bool,
        typer.Option("--again", help="Play rows, too, whose report is of this suite already."),
    ] = False,
) -> None:
    """Put real loaders to the suite, each in an environment of its own, and keep the reports.

    Run it at the top of the project. The environments are made of committed locks; the first time
    their packages are installed. A run that was stopped goes on when it is started again.

    Exit status: 0 if each row has a report, whatever its verdict; 2 if a row has none.
    """
    if context.invoked_subcommand is not None:
        return
    names = tuple(name.strip() for one in loader or () for name in one.split(",") if name.strip())
    rows, console = named(names), Console()
    missing = 0
    try:
        for played in play(rows, Places(locks, environments, out), profile, again):
            console.print(printable(_line(played)), markup=False, highlight=False)
            missing += played.path is None
    except KeyboardInterrupt:
        print("midepoch: stopped; the same command goes on where it stopped")
        raise typer.Exit(_STOPPED) from None
    if missing:
        print(f"{missing} of {len(rows)} rows have no report")
        raise typer.Exit(2)


@app.command(
    short_help="Make the matrix's page and badges from its reports.",
    epilog="Example: midepoch matrix render conformance/results --out docs/matrix",
)
def render(
    results: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of the reports.")
    ] = RESULTS,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the page and the badges.")
    ] = PAGES,
    address: Annotated[
        str,
        typer.Option(
            "--address", metavar="URL", help="Where the folder is published, for badges elsewhere."
        ),
    ] = "",
) -> None:
    """Make the page of the matrix from the reports alone: no loader runs.

    The folder gets the page as Markdown (index.md), each report as a page of its own, and badges
    for each row. Rows without a report are listed as not run yet.

    Exit status: 0 if each report could be read, whatever its verdict; 2 if not.
    """
    # Imported here: the other commands need no template engine.
    from midepoch_conformance.matrix.page import write_pages

    for row in write_pages(results, out, address=address):
        print(printable(f"{row.title}: {row.verdict}", lines=False))
    print(f"{out / 'index.md'}: the matrix")


def _line(played: Played) -> str:
    """Return what became of a row in one line, or in its reason's own."""
    if played.path is None:
        return f"{played.row.name}: no report\n  " + played.trouble.replace("\n", "\n  ")
    kept = " (kept)" if played.kept else ""
    return f"{played.row.name}: {verdict(load_report(played.path))}{kept}"
