"""mkdocs hook: the table of ``field-failures.md``, generated from its data."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import field_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

PAGE = "field-failures.md"
TESTS = Path(__file__).resolve().parents[2] / "conformance/tests"
PLACE = "<!-- the table of failures -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Rebuild the page when its data change."""
    config.watch.append(str(field_table.SOURCE))
    return config


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the table at its marker.

    Raises:
        LookupError: the page lacks the marker.
    """
    if page.file.src_uri != PAGE:
        return markdown
    if PLACE not in markdown:
        raise LookupError(f"{PAGE} lacks the line {PLACE!r}, where its table goes")
    mutants = traceability()
    return markdown.replace(
        PLACE, field_table.markdown(field_table.load(), mutants.field_failures())
    )


def traceability() -> Any:
    """Return the module that knows the mutants of the suite's tests."""
    # Imported late and from its own folder: other commands of mkdocs load the hooks too.
    sys.path.append(str(TESTS))
    try:
        return importlib.import_module("traceability")
    finally:
        sys.path.remove(str(TESTS))
