"""The matrix's page stays what it is when the site's Markdown reads it."""

from __future__ import annotations

from pathlib import Path

import markdown
from mkdocs.config import load_config
from reports import make_hostile, rewritten, simulated_report
from test_report_page import Page

from midepoch_conformance.matrix.page import matrix_page, read_reports

ROOT = Path(__file__).resolve().parents[2]


def elements(text: str) -> list[str]:
    config = load_config(str(ROOT / "mkdocs.yml"))
    made = markdown.Markdown(
        extensions=config.markdown_extensions, extension_configs=config.mdx_configs
    )
    body = text.partition("\n---\n")[2]  # mkdocs takes the front matter off
    page = Page(made.convert(body))
    assert "Smallest case" in page.words
    return [name for name, _ in page.elements]


def test_markdown_changes_nothing_inside_the_page(tmp_path: Path) -> None:
    simulated_report(tmp_path / "raw.jsonl")
    folder = tmp_path / "r"
    folder.mkdir()

    def fenced(lines: list[dict[str, object]]) -> None:
        make_hostile(lines)
        footer = lines[-1]["failures"]
        assert isinstance(footer, list)
        footer[0]["words"] = "so\n\n```html\n<b>\n```\n\n~~~\n# title\n~~~\n\n</div>\n\n*not*"

    rewritten(tmp_path / "raw.jsonl", folder / "row.jsonl", fenced)
    text = matrix_page(read_reports(folder), ())
    written = [name for name, _ in Page(text.partition("\n---\n")[2]).elements]
    found = elements(text)
    # Markdown makes the heading, with its link, and the paragraph above the page's own HTML.
    assert [name for name in found if name not in ("h1", "p", "a")] == [
        name for name in written if name not in ("h1", "p", "a")
    ]
    assert found.count("h1") == 1
    assert found.count("p") == written.count("p") + 1
    assert found.count("a") == written.count("a") + 1
