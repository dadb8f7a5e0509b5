"""The command line: ``midepoch check``, ``explore``, ``list`` and ``spec``.

Exit status: 0 if no claimed MUST fails, 1 if one does. The status is 2 for wrong usage, for an
adapter that fails the smoke gate, and if cases could not be judged.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

try:
    import typer
    from rich.console import Console
except ImportError as missing:  # the core distribution lacks these libraries
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
from midepoch_conformance.run.settings import Settings, option_words
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

SCRIPTS = Path("midepoch-report")
"""The folder of scripts if the user names none."""

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
    typer.Option(
        "--python", metavar="PATH", help="The Python interpreter in which the loader is installed."
    ),
]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", min=0, help="Number of cases played at a time; 0: at most two."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="ID",
        help="Judge only this requirement or class; repeat, or separate by commas.",
    ),
]
Scripts = Annotated[
    Path,
    typer.Option("--scripts", metavar="DIR", help="Write the scripts of failures into DIR."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        help="Time that a session has before the suite looks whether it hangs. "
        "[default: it follows from a plain epoch, at least 60]",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the last line.")]


Json = Annotated[
    Path | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the report to FILE as cases finish. Overwrites FILE.",
    ),
]
KnownFile = Annotated[
    Path | None,
    typer.Option(
        "--known",
        metavar="FILE",
        help="TOML file of accepted failures. They are replayed first; one that no longer fails is "
        "an error.",
    ),
]
WriteKnown = Annotated[
    Path | None,
    typer.Option(
        "--write-known",
        metavar="FILE",
        help="Write the current failures as entries for --known; you fill in link and reason.",
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
        typer.Option("--continue", help="Continue the interrupted run whose report is --json."),
    ] = False,
    known: KnownFile = None,
    write_known: WriteKnown = None,
    scripts: Scripts = SCRIPTS,
    timeout: Timeout = None,
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by the cases of a profile."""
    if continue_ and json is None:
        raise CheckError(
            "--continue needs the report of the interrupted run", "name it: --json FILE"
        )
    earlier = continued(json) if continue_ and json is not None else None
    told = {} if earlier is None else earlier.options
    # An option that is not given again is that of the interrupted run.
    profile = str(told.get("profile", profile)) if profile == "quick" else profile
    only = only or ([told["only"]] if "only" in told else None)
    python = _interpreter(python or told.get("python"))
    jobs = jobs or int(told.get("jobs", 0))
    timeout = timeout or (float(told["timeout"]) if "timeout" in told else None)
    known = known or (Path(told["known"]) if "known" in told else None)
    if scripts == SCRIPTS:
        scripts = Path(told.get("scripts", SCRIPTS))
    settings = Settings(
        loader,
        profile=profile,
        python=python,
        jobs=jobs,
        only=_names(only),
        scripts=scripts,
        timeout=timeout,
        options=option_words(
            python=python, jobs=jobs, known=known, scripts=_unusual(scripts), timeout=timeout
        ),
        known=() if known is None else tuple(load_known(known)),
    )
    results = earlier.results if earlier is not None else []
    _run(
        lambda listen: run_check(settings, listen, earlier=results),
        None if json is None else ReportFile(json, earlier),
        quiet,
        "add --continue to judge the rest",
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
        int | None,
        typer.Option(
            metavar="M",
            min=0,
            help="Play M of the N cases with worker processes [default: one in 20].",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Draw the same cases as the run that had this seed.")
    ] = None,
    python: Python = None,
    jobs: Jobs = 0,
    only: Only = None,
    json: Json = None,
    scripts: Scripts = SCRIPTS,
    timeout: Timeout = None,
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by randomly drawn cases and histories, until you stop it (Ctrl-C)."""
    goal = Goal(seconds, cases, with_workers)
    python = _interpreter(python)
    settings = Settings(
        loader,
        profile="explore",
        python=python,
        jobs=jobs,
        only=_names(only),
        scripts=scripts,
        timeout=timeout,
        options=option_words(
            seconds=seconds,
            cases=cases,
            with_workers=with_workers,
            python=python,
            jobs=jobs,
            scripts=_unusual(scripts),
            timeout=timeout,
        ),
        shrink=True,
    )
    _run(
        lambda listen: run_explore(settings, goal, seed=seed, listen=listen),
        None if json is None else ReportFile(json),
        quiet,
    )


@app.command("list")
def list_() -> None:
    """List the loaders, profiles, classes and requirements, with their numbers of cases."""
    catalogue.show_list(Console())


@app.command()
def spec(
    requirement: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A requirement, such as RESUME-1.")
    ] = None,
) -> None:
    """Show a requirement: its text, its reason and how it is judged. Without ID: all texts."""
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
        # The message may contain texts of a loader or of a file.
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
            words = f"midepoch: the cases judged so far are in {report.path}"
            if report.whole:
                words, resumed = f"midepoch: the report {report.path} has no scripts yet", ""
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
    """Write entries for the current failures, and print the next step."""
    failures = unknown_failures(outcome)
    path.parent.mkdir(parents=True, exist_ok=True)
    own = outcome.facts.info.function
    path.write_text(known_text(failures, own), encoding="utf-8")
    print(f"{path}: the current failures; fill in link and reason, then add --known {path}")


def _names(only: list[str] | None) -> tuple[str, ...]:
    names = [name.strip() for text in only or [] for name in text.split(",")]
    return tuple(name for name in names if name)


def _unusual(scripts: Path) -> Path | None:
    return None if scripts == SCRIPTS else scripts


def _interpreter(python: str | None) -> str | None:
    """Return the interpreter's whole path: scripts run in other folders."""
    if python is None:
        return None
    if not Path(python).is_file():
        raise CheckError(f"--python {python}: no such file", "name the interpreter's own path")
    # A link is kept: the interpreter of a virtual environment is one.
    return os.path.abspath(python)


if __name__ == "__main__":
    sys.exit(main())
