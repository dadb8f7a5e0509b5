"""mkdocs hook: the pages that are generated from sources outside ``docs/``."""

from __future__ import annotations

import re
from pathlib import Path

import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from typer.cli import get_docs_for_click

ROOT = Path(__file__).resolve().parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the command-line reference and the changelog."""
    files.append(File.generated(config, "reference/cli.md", content=command_line()))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "changelog.md", content=changelog))
    return files


def command_line() -> str:
    """Return the reference of the command line, generated from its help texts."""
    from midepoch_conformance.cli import app

    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="midepoch")
    text = get_docs_for_click(
        obj=group, ctx=context, name="midepoch", title="The command line: midepoch"
    )
    for name, command in getattr(group, "commands", {}).items():
        # typer shortens each command's line in the list of commands: write the whole line
        words = (command.help or "").partition("\n")[0]
        line = f"* [`{name}`](#midepoch-{name}): {words}".replace("\\", r"\\")
        text = re.sub(rf"^\* `{name}`.*$", line, text, flags=re.MULTILINE)
    return text
