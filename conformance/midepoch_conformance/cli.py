"""The command line: ``midepoch check``, ``explore``, ``replay``, ``list`` and ``spec``.

Exit status: 0 if no claimed MUST fails, 1 if one does. The status is 2 for wrong usage, for an
adapter that fails the smoke gate, and if cases could not be judged.
"""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
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
from midepoch_conformance.cli_options import (
    SCRIPTS,
    STOPPED,
    Commands,
    Jobs,
    Json,
    KnownFile,
    Loader,
    NoScripts,
    Only,
    Python,
    Quiet,
    Scripts,
    Timeout,
    Verbose,
    WriteKnown,
)
from midepoch_conformance.errors import CheckError
from midepoch_conformance.replay import replay
from midepoch_conformance.report import terminal
from midepoch_conformance.report.file import ReportFile, continued
from midepoch_conformance.report.lines import document_of, suite_version
from midepoch_conformance.run.check import run_check
from midepoch_conformance.run.events import CasesJudged, Event, Listener
from midepoch_conformance.run.explore import Goal
from midepoch_conformance.run.explore import explore as run_explore
from midepoch_conformance.run.known import known_text, load_known, unknown_failures
from midepoch_conformance.run.settings import Settings, option_words
from midepoch_conformance.text import printable
from midepoch_conformance.verdict.results import Check

__all__ = ["app", "main"]

EPILOG = (
    "Example: midepoch check train.py:make_loader judges the loader that your function builds. "
    "`midepoch COMMAND --help` has an example of each command. The documentation is in docs/ of "
    "the project; `make docs` builds it into site/."
)

app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)


@app.command(
    short_help="Judge a loader by the cases of a profile.",
    epilog="Example: midepoch check train.py:make_loader --json report.jsonl",
)
def check(
    loader: Loader,
    profile: Annotated[
        str, typer.Option(metavar="NAME", help="The cases to play: quick or full.")
    ] = "quick",
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
    no_scripts: NoScripts = False,
    measure: Annotated[
        bool,
        typer.Option("--measure", help="Measure what states and resumes cost, too, for --json."),
    ] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Judge LOADER by the cases of a profile, and show each failure with its smallest case.

    Exit status: 0 if every MUST that the loader claims holds; 1 if one fails; 2 if something that
    you asked for could not be judged, or if the command is wrong.
    """
    if continue_ and json is None:
        raise CheckError(
            "--continue needs the report of the interrupted run", "name it: --json FILE"
        )
    earlier = continued(json) if continue_ and json is not None else None
    told = {} if earlier is None else earlier.options
    # An option that is not given again is that of the interrupted run.
    profile = str(told.get("profile", profile)) if profile == "quick" else profile
    only = only or ([told["only"]] if "only" in told else None)
    python = python or told.get("python")
    jobs = jobs or int(told.get("jobs", 0))
    timeout = timeout or (float(told["timeout"]) if "timeout" in told else None)
    known = known or (Path(told["known"]) if "known" in told else None)
    if scripts == SCRIPTS:
        scripts = Path(told.get("scripts", SCRIPTS))
    no_scripts = no_scripts or "no_scripts" in told
    measure = measure or "measure" in told
    settings = Settings(
        loader,
        profile=profile,
        python=_interpreter(python),
        jobs=jobs,
        only=_names(only),
        scripts=None if no_scripts else scripts,
        timeout=timeout,
        options=option_words(
            python=python,
            jobs=jobs,
            known=known,
            scripts=_unusual(scripts),
            no_scripts=no_scripts,
            timeout=timeout,
            measure=measure,
        ),
        measure=measure,
        known=() if known is None else tuple(load_known(known)),
    )
    results = earlier.results if earlier is not None else []
    _run(
        lambda listen: run_check(settings, listen, earlier=results),
        None if json is None else ReportFile(json, earlier),
        quiet,
        write_known,
        verbose,
    )


@app.command(
    short_help="Judge a loader by drawn cases, until you stop it.",
    epilog="Example: midepoch explore train.py:make_loader --seconds 600",
)
def explore(
    loader: Loader,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            min=0.0,
            help="Begin no case later than N seconds after the start, and earlier if cases fail: "
            "a part of the time is kept for what was found. Then the failures are written with "
            "their scripts, which can take a few seconds each.",
        ),
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
    no_scripts: NoScripts = False,
    quiet: Quiet = False,
) -> None:
    """Judge LOADER by randomly drawn cases and histories, until you stop it (Ctrl-C).

    Exit status: 0 if every MUST that was judged holds; 1 if one fails; 2 if something that you
    asked for could not be judged, or if the command is wrong.
    """
    goal = Goal(seconds, cases, with_workers)
    settings = Settings(
        loader,
        profile="explore",
        python=_interpreter(python),
        jobs=jobs,
        only=_names(only),
        scripts=None if no_scripts else scripts,
        timeout=timeout,
        options=option_words(
            seconds=seconds,
            cases=cases,
            with_workers=with_workers,
            python=python,
            jobs=jobs,
            scripts=_unusual(scripts),
            no_scripts=no_scripts,
            timeout=timeout,
        ),
        shrink=True,
    )
    _run(
        lambda listen: run_explore(settings, goal, seed=seed, listen=listen),
        None if json is None else ReportFile(json),
        quiet,
    )


@app.command(
    "replay",
    short_help="Play one case of a report again, step by step.",
    epilog="Example: midepoch replay c351afd9cf21 train.py:make_loader",
)
def replay_(
    case: Annotated[
        str,
        typer.Argument(
            metavar="CASE-ID",
            help="The case: its id, or the beginning of it, as a report shows it.",
            show_default=False,
        ),
    ],
    loader: Loader,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Take the case from this report: it alone has cases that were explored or made "
            "smaller.",
        ),
    ] = None,
    python: Python = None,
    timeout: Timeout = None,
) -> None:
    """Play one case again, and show each step: what was delivered, what was due, the verdict.

    Exit status: 0 if the loader does what the case asks; 1 if it fails; 2 if the case could not be
    judged, or if the command is wrong.
    """
    settings = Settings(loader, python=_interpreter(python), jobs=1, timeout=timeout)
    raise typer.Exit(replay(settings, case, report, Console()))


@app.command(
    "list",
    short_help="List the loaders, profiles, classes and requirements.",
    epilog="Example: midepoch list",
)
def list_() -> None:
    """List the loaders, profiles, classes and requirements, with their numbers of cases.

    The numbers are of the committed cases; a check draws histories as well. Exit status: 0.
    """
    catalogue.show_list(Console())


@app.command(
    short_help="Show a requirement or a rule, or all of a class.",
    epilog="Example: midepoch spec RESUME-1",
)
def spec(
    requirement: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="A requirement such as RESUME-1, a class such as Resume, or a rule such as RES-4.",
        ),
    ] = None,
) -> None:
    """Show a requirement: its text, its reason and how it is judged. Without ID: all texts.

    Exit status: 0; 2 if nothing has that name.
    """
    if requirement is None:
        catalogue.show_all(Console())
    else:
        catalogue.show_one(requirement, Console())


@app.callback(invoke_without_command=True)
def version(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Judge how a data loader resumes: does a run that restarts get the batches that it should?

    Exit status of check, explore and replay: 0 if every MUST that the loader claims holds; 1 if one
    fails; 2 if something that you asked for could not be judged, or if the command is wrong.
    """
    if version:
        print(suite_version())
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)


cli_pages.register(app)

_typed: list[str] = []
"""The arguments as the user typed them: a command to go on has every option."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    _typed[:] = sys.argv[1:] if arguments is None else arguments
    try:
        app(arguments, prog_name="midepoch")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except CheckError as error:
        # The message may contain texts of a loader or of a file.
        print(printable(f"midepoch: {error}"), file=sys.stderr)
        if error.hint:
            print(printable(textwrap.indent(error.hint, "  ")), file=sys.stderr)
        return 2
    except OSError as error:
        print(f"midepoch: {error}", file=sys.stderr)
        return 2
    return 0


def _run(
    judge: Callable[[Listener], Check],
    report: ReportFile | None,
    quiet: bool,
    write_known: Path | None = None,
    verbose: bool = False,
) -> None:
    """Run a check with its progress on the terminal and its report in its file.

    Ctrl-C ends it with one line, which says what is kept and how to go on.
    """
    show = terminal.progress_for(Console(stderr=True), quiet)
    judged: list[CasesJudged] = []

    def listen(event: Event) -> None:
        if isinstance(event, CasesJudged):
            judged[:] = [event]
        if report is not None:
            report(event)
        show(event)

    try:
        outcome = judge(listen)
        document = document_of(outcome)
        if report is not None:
            report.finish(document)
    except KeyboardInterrupt:
        show.close()
        print(_stopped(judged, report), file=sys.stderr)
        raise typer.Exit(STOPPED) from None
    finally:
        show.close()
        if report is not None:
            report.close()
    terminal.show_report(document, Console(), quiet, verbose, report.path if report else None)
    if write_known is not None:
        _write_known(outcome, write_known)
    raise typer.Exit(outcome.status)


def _stopped(judged: list[CasesJudged], report: ReportFile | None) -> str:
    """Return the line that ends a run that was stopped."""
    last = judged[-1] if judged else None
    words = f"{last.done:,} of {last.cases:,} cases" if last else "no case"
    if report is None or not report.begun:
        keeps = "nothing is kept" if last else "nothing had begun"
        return f"midepoch: stopped after {words}; {keeps}" + (
            ": --json FILE keeps the cases that were judged" if last else ""
        )
    shown = f"`midepoch report {report.path}` shows"
    command = shlex.join(["midepoch", *(word for word in _typed if word != "--continue")])
    if report.whole and "check" in _typed[:1]:
        return (
            f"midepoch: stopped; the report {report.path} is whole, but not all scripts are "
            f"written; {shown} it, and `{command}` writes them"
        )
    if "explore" in _typed[:1]:
        return f"midepoch: stopped; {shown} what was judged"
    # Cases end in any order, and the file holds them in the table's.
    rest = "looks into the failures" if last and report.kept == last.cases else "judges the rest"
    words = f"{report.kept:,} of {last.cases:,} cases" if last else "no case"
    return (
        f"midepoch: stopped after {words}, which {report.path} keeps; `{command} --continue` "
        f"{rest}, and {shown} these"
    )


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
