"""mkdocs hook: the tables of ``benchmarks.md``, made from a run's own file."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

PAGE = "benchmarks.md"
SOURCE = Path(__file__).resolve().parents[1] / "assets/benchmarks/quick.json"
PLACE = "<!-- the tables of the run -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Rebuild the page when its run changes."""
    config.watch.append(str(SOURCE))
    return config


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Insert the tables at their marker.

    Raises:
        LookupError: the page lacks the marker.
    """
    if page.file.src_uri != PAGE:
        return markdown
    if PLACE not in markdown:
        raise LookupError(f"{PAGE} lacks the line {PLACE!r}, where its tables go")
    # Imported late: other commands of mkdocs load the hooks too.
    from midepoch_benchmarks import results, tables

    found = results.parse(SOURCE.read_text(encoding="utf-8"))
    return markdown.replace(PLACE, tables.markdown(found))
