"""``midepoch bench``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from midepoch_benchmarks.results import Results
from midepoch_conformance.cli_options import STOPPED
from midepoch_conformance.errors import CheckError
from midepoch_conformance.text import meant

__all__ = ["bench"]

_WIDTH = 180


def bench(
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="NAME",
            help="torch, torchdata, torch-file-system, torch-tuned, or a loader with an adapter "
            "as `midepoch check` takes it; repeat. Default: torch.",
            show_default=False,
        ),
    ] = None,
    loader: Annotated[
        str,
        typer.Option("--loader", metavar="NAME", help="The loader that is measured beside them."),
    ] = "reference",
    case: Annotated[
        list[str] | None,
        typer.Option(
            "--case", metavar="ID", help="A case or a row of `--list`, or a pattern; repeat."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Shorter and fewer rounds: minutes for all cases.")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the cases and stop.")] = False,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the results here, case by case."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="DIR", help="Draw them as SVG files here.")
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option("--rounds", metavar="N", min=2, help="Rounds of each contender in a case."),
    ] = None,
) -> None:
    """Measure a loader's costs beside other loaders.

    Exit status: 0 if every required bound is met; 1 if one is missed; 2 if the command is wrong.
    """
    # Imported here: no other command measures anything.
    from midepoch_benchmarks import cases, run, view

    out = Console()
    if not out.is_terminal and "COLUMNS" not in os.environ:
        # A file or a pipe has no width to keep to.
        out = Console(width=_WIDTH)
    if list_:
        # A list is read, and wraps; a table of results keeps its columns.
        view.show_cases(Console())
        return
    try:
        wanted = cases.chosen(case or [])
    except LookupError as unknown:
        name = str(unknown.args[0])
        known = [word for one in cases.CASES.values() for word in (one.id, one.row)]
        raise CheckError(
            f"no case or row {name!r}", meant(name, known) or "see midepoch bench --list"
        ) from None
    _check_folder(json, plot)
    pace = run.QUICK if quick else run.FULL
    if rounds is not None:
        pace = run.Pace(rounds, pace.seconds)
    progress = view.Progress(len(wanted), Console(stderr=True))
    done: list[str] = []

    def told(results: Results) -> None:
        progress(results.results[-1])
        if json is not None:  # after each case: an interrupted run keeps what it has
            json.write_text(results.text(), encoding="utf-8")
        done.append(results.results[-1].case.id)

    try:
        results = run.run(wanted, loader, peer or ["torch"], pace, told)
        view.show_results(results, out)
        if json is not None:
            print(f"{json}: the results")
        if plot is not None:
            from midepoch_benchmarks.plots import draw

            paths = draw(results, plot)
            print(f"{len(paths)} drawings in {plot}")
    except KeyboardInterrupt:
        left = [case.id for case in wanted if case.id not in done]
        print(_stopped(len(done), left, json, plot), file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    raise typer.Exit(1 if results.missed else 0)


def _stopped(done: int, left: list[str], json: Path | None, plot: Path | None) -> str:
    """Return the line that ends a run that was stopped: what is kept, and how to go on."""
    if not done:
        return "midepoch: stopped after no case; nothing was written"
    words = f"midepoch: stopped after {done} of {done + len(left)} cases"
    if plot is not None and not left:
        kept = "" if json is None else f"{json} keeps the results; "
        return f"{words}; {kept}{plot} may have some of the drawings"
    if json is None:
        return f"{words}; nothing was written: --json FILE keeps the results"
    words = f"{words}, which {json} keeps"
    if not left:
        return words
    return f"{words}; the next one is {left[0]}: go on with --case ID and another file"


def _check_folder(json: Path | None, plot: Path | None) -> None:
    """Fail before minutes of measuring if a file cannot be written."""
    if json is not None:
        if json.is_dir():
            raise CheckError(f"--json {json} is a folder", "name a file")
        json.parent.mkdir(parents=True, exist_ok=True)
    if plot is not None:
        if plot.exists() and not plot.is_dir():
            raise CheckError(f"--plot {plot} is a file", "name a folder")
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            raise CheckError(
                "--plot needs matplotlib", "pip install 'midepoch[conformance,bench]'"
            ) from None
