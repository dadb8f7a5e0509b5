"""The command line: ``midepoch check``, ``explore``, ``list`` and ``spec``.

Exit status: 0 when no claimed MUST fails, 1 when one does, 2 for wrong usage, for an adapter
that fails the smoke gate, and where something else kept cases from being judged.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich.console import Console
except ImportError as missing:  # the core distribution carries this file without its libraries
    raise SystemExit(
        f"midepoch: {missing.name} is missing: pip install 'midepoch[conformance]'"
    ) from missing

from midepoch_conformance import catalogue, terminal
from midepoch_conformance.check import Check, run_check
from midepoch_conformance.explore import explore as run_explore
from midepoch_conformance.report import suite_version, write_report
from midepoch_conformance.settings import CheckError, Settings

__all__ = ["app", "main"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Judge how a data loader resumes.",
)

Loader = Annotated[
    str,
    typer.Argument(
        metavar="LOADER",
        help="reference, torchdata, torch, grain; path/to/file.py:Adapter; "
        "package.module:Adapter; or your own make_loader function in either form.",
        show_default=False,
    ),
]
Python = Annotated[
    str | None,
    typer.Option("--python", metavar="PATH", help="The interpreter that has the loader."),
]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", min=0, help="Cases played at a time; 0: at most two.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="ID", help="A requirement or class; repeat, or use commas."),
]
Scripts = Annotated[
    Path,
    typer.Option("--scripts", metavar="DIR", help="Where the failures' scripts are written."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the last line alone.")]


@app.command()
def check(
    loader: Loader,
    profile: Annotated[str, typer.Option(metavar="NAME", help="quick or full.")] = "quick",
    python: Python = None,
    jobs: Jobs = 0,
    only: Only = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report here.")
    ] = None,
    scripts: Scripts = Path("midepoch-report"),
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by the cases of a profile."""
    settings = Settings(
        loader,
        profile=profile,
        python=_interpreter(python),
        jobs=jobs,
        only=_names(only),
        scripts=scripts,
    )
    if json is not None and json.is_dir():
        raise CheckError(f"--json {json} is a folder", "name a file")
    show = terminal.progress_for(Console(stderr=True), quiet)
    try:
        outcome = run_check(settings, show)
    finally:
        show.close()
    _finish(outcome, json, quiet)


@app.command()
def explore(
    loader: Loader,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.0, help="Stop after N seconds; without end otherwise."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw the same cases again.")] = None,
    python: Python = None,
    jobs: Jobs = 0,
    only: Only = None,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report here.")
    ] = None,
    scripts: Scripts = Path("midepoch-report"),
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by cases drawn at random, until stopped (Ctrl-C)."""
    settings = Settings(
        loader,
        profile="explore",
        python=_interpreter(python),
        jobs=jobs,
        only=_names(only),
        scripts=scripts,
        shrink=True,
    )
    show = terminal.progress_for(Console(stderr=True), quiet)
    try:
        outcome = run_explore(settings, seconds=seconds, seed=seed, listen=show)
    finally:
        show.close()
    _finish(outcome, json, quiet)


@app.command("list")
def list_() -> None:
    """Show the loaders, profiles, classes and requirements, with their numbers of cases."""
    catalogue.show_list(Console())


@app.command()
def spec(
    requirement: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A requirement, such as RESUME-1.")
    ] = None,
) -> None:
    """Show a requirement: its text, why it exists, how it is judged; or all of their texts."""
    if requirement is None:
        catalogue.show_all(Console())
    else:
        catalogue.show_one(requirement, Console())


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Judge how a data loader resumes."""
    if version:
        print(suite_version())
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        app(arguments, prog_name="midepoch")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        print("midepoch: stopped", file=sys.stderr)
        return 130
    except CheckError as error:
        print(f"midepoch: {error}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"midepoch: {error}", file=sys.stderr)
        return 2
    return 0


def _finish(outcome: Check, json: Path | None, quiet: bool) -> None:
    terminal.show_check(outcome, Console(), quiet)
    if json is not None:
        write_report(outcome, json)
    raise typer.Exit(outcome.status)


def _names(only: list[str] | None) -> tuple[str, ...]:
    names = [name.strip() for text in only or [] for name in text.split(",")]
    return tuple(name for name in names if name)


def _interpreter(python: str | None) -> str | None:
    if python is not None and not Path(python).is_file():
        raise CheckError(f"--python {python}: no such file", "name the interpreter's own path")
    return python


if __name__ == "__main__":
    sys.exit(main())
