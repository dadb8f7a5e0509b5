"""The command line: ``midepoch check``, ``explore``, ``list`` and ``spec``.

Exit status: 0 when no claimed MUST fails, 1 when one does, 2 for wrong usage, for an adapter
that fails the smoke gate, and where something else kept cases from being judged.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich.console import Console
except ImportError as missing:  # the core distribution carries this file without its libraries
    raise SystemExit(
        f"midepoch: {missing.name} is missing: pip install 'midepoch[conformance]'"
    ) from missing

from midepoch_conformance import catalogue, cli_pages
from midepoch_conformance.errors import CheckError
from midepoch_conformance.report import terminal
from midepoch_conformance.report.file import ReportFile, continued
from midepoch_conformance.report.lines import document_of, suite_version
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import Event, Listener
from midepoch_conformance.run.explore import Goal
from midepoch_conformance.run.explore import explore as run_explore
from midepoch_conformance.run.known import known_text, load_known, unknown_failures
from midepoch_conformance.run.settings import Settings
from midepoch_conformance.text import printable
from midepoch_conformance.verdict.results import Check

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


Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the report here, case by case; what FILE held before is replaced.",
    ),
]
KnownFile = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help="Failures that are known (TOML): replayed first, each must still fail.",
    ),
]
WriteKnown = Annotated[
    Path | None,
    typer.Option(
        "--write-known",
        metavar="FILE",
        help="Write entries for --known of what fails now; link and reason are for you to fill in.",
    ),
]


@app.command()
def check(
    loader: Loader,
    profile: Annotated[str, typer.Option(metavar="NAME", help="quick or full.")] = "quick",
    python: Python = None,
    jobs: Jobs = 0,
    only: Only = None,
    json: Json = None,
    continue_: Annotated[
        bool,
        typer.Option("--continue", help="Go on with the interrupted run whose report is --json."),
    ] = False,
    known: KnownFile = None,
    write_known: WriteKnown = None,
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
        known=() if known is None else tuple(load_known(known)),
    )
    if continue_ and json is None:
        raise CheckError("--continue needs the report to go on with", "name it: --json FILE")
    earlier = continued(json) if continue_ and json is not None else None
    results = earlier.results if earlier is not None else []
    _run(
        lambda listen: run_check(settings, listen, earlier=results),
        None if json is None else ReportFile(json, earlier),
        quiet,
        "add --continue to go on with it",
        write_known,
    )


@app.command()
def explore(
    loader: Loader,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="N", min=0.0, help="Stop after N seconds."),
    ] = None,
    cases: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Stop after N cases.")
    ] = None,
    with_workers: Annotated[
        int | None, typer.Option(metavar="M", min=0, help="M of them with workers; else 1 of 20.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Draw the same cases again.")] = None,
    python: Python = None,
    jobs: Jobs = 0,
    only: Only = None,
    json: Json = None,
    scripts: Scripts = Path("midepoch-report"),
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by cases and histories drawn at random, until stopped (Ctrl-C)."""
    goal = Goal(seconds, cases, with_workers)
    settings = Settings(
        loader,
        profile="explore",
        python=_interpreter(python),
        jobs=jobs,
        only=_names(only),
        scripts=scripts,
        shrink=True,
    )
    _run(
        lambda listen: run_explore(settings, goal, seed=seed, listen=listen),
        None if json is None else ReportFile(json),
        quiet,
    )


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


cli_pages.register(app)


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
        # Its words may be the loader's, or those of a file.
        print(printable(f"midepoch: {error}"), file=sys.stderr)
        if error.hint:
            print(printable(f"  {error.hint}"), file=sys.stderr)
        return 2
    except OSError as error:
        print(f"midepoch: {error}", file=sys.stderr)
        return 2
    return 0


def _run(
    judge: Callable[[Listener], Check],
    report: ReportFile | None,
    quiet: bool,
    resumed: str = "",
    write_known: Path | None = None,
) -> None:
    """Run a check with its progress on the terminal and its report in its file."""
    show = terminal.progress_for(Console(stderr=True), quiet)

    def listen(event: Event) -> None:
        if report is not None:
            report(event)
        show(event)

    try:
        outcome = judge(listen)
        document = document_of(outcome)
        if report is not None:
            report.finish(document)
    except KeyboardInterrupt:
        if report is not None and report.begun:
            show.close()
            words = f"midepoch: what was judged is in {report.path}"
            print(f"{words}; {resumed}" if resumed else words, file=sys.stderr)
        raise
    finally:
        show.close()
        if report is not None:
            report.close()
    terminal.show_report(document, Console(), quiet)
    if write_known is not None:
        _write_known(outcome, write_known)
    raise typer.Exit(outcome.status)


def _write_known(outcome: Check, path: Path) -> None:
    """Write entries for what fails now, and say what is left to do."""
    failures = unknown_failures(outcome)
    path.parent.mkdir(parents=True, exist_ok=True)
    own = outcome.facts.info.function
    path.write_text(known_text(failures, own), encoding="utf-8")
    print(f"{path}: what fails now; fill in link and reason, then add --known {path}")


def _names(only: list[str] | None) -> tuple[str, ...]:
    names = [name.strip() for text in only or [] for name in text.split(",")]
    return tuple(name for name in names if name)


def _interpreter(python: str | None) -> str | None:
    if python is not None and not Path(python).is_file():
        raise CheckError(f"--python {python}: no such file", "name the interpreter's own path")
    return python


if __name__ == "__main__":
    sys.exit(main())
