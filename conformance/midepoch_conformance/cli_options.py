"""The options that commands share, and the line with which Ctrl-C ends them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

__all__ = [
    "SCRIPTS",
    "STOPPED",
    "Commands",
    "Jobs",
    "Json",
    "KnownFile",
    "Loader",
    "NoScripts",
    "Only",
    "Python",
    "Quiet",
    "Scripts",
    "Timeout",
    "Verbose",
    "WriteKnown",
]

SCRIPTS = Path("midepoch-report")
"""The folder of scripts if the user names none."""

STOPPED = 130
"""The exit status after Ctrl-C."""


READERS = ("replay", "list", "spec", "inspect")
"""The commands that write no file."""


class Commands(TyperGroup):
    """The commands; Ctrl-C ends one that says nothing about it itself with a line."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            nothing = ctx.invoked_subcommand in READERS
            kept = "; nothing was written" if nothing else ""
            print(f"midepoch: stopped{kept}", file=sys.stderr)
            raise typer.Exit(STOPPED) from None
        except typer.BadParameter as error:
            error.message = f"{_rejected(error)}{error.message}"
            raise


def _rejected(error: typer.BadParameter) -> str:
    """Return the value that was typed, with a colon; empty if the message has it already.

    Typer's newer versions put only the reason into the message.
    """
    told = getattr(error.__cause__, "errors", None)
    if told is None:
        return ""
    return f"{str(told()[0]['input'])!r}: "


Loader = Annotated[
    str,
    typer.Argument(
        metavar="LOADER",
        help="Your function that builds a loader, as path/to/file.py:make_loader or "
        "package.module:make_loader; an adapter, in the same forms; or one of reference, "
        "torchdata, torch and grain.",
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
    typer.Option(
        "--jobs",
        "-j",
        min=0,
        envvar="MIDEPOCH_JOBS",
        help="How many cases are played at a time; 0 means two at most.",
    ),
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
    typer.Option("--scripts", metavar="DIR", help="Write a script of each failure into DIR."),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=0.1,
        help="Time that a session, or the building of the loader, has before the suite looks "
        "whether it hangs. "
        "[default: it follows from a plain epoch, at least 60]",
    ),
]
NoScripts = Annotated[bool, typer.Option("--no-scripts", help="Write no scripts.")]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Say which pairs of values no drawn history has, and why."),
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
