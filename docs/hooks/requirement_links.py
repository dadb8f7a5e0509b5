"""mkdocs hook: links every id in the site's text to its requirement or rule."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from spec_pages import load_index, load_rules

_ID = re.compile(r"\b[A-Z]+-[1-9][0-9]*\b")
_CLOSED = {"a", "pre", "script", "style", "h1", "h2", "h3", "h4", "h5", "h6"}
"""Elements whose text stays unchanged: links cannot nest, and readers copy code."""


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Link the page's ids that are not inside a link yet."""
    targets = {}
    for entry in [*load_index()["requirements"], *load_rules()["rules"]]:
        file = files.get_file_from_path(f"spec/{entry['page']}")
        if file is not None:
            url = get_relative_url(file.url, page.url)
            targets[entry["id"]] = f"{url}#{entry['id']}"
    return link_ids(html, targets)


def link_ids(html: str, targets: dict[str, str]) -> str:
    """Return the HTML with every known id in its running text turned into a link."""
    linker = _Linker(targets)
    linker.feed(html)
    linker.close()
    return "".join(linker.out)


class _Linker(HTMLParser):
    """Copies HTML unchanged, except for the text outside of :data:`_CLOSED`."""

    def __init__(self, targets: dict[str, str]) -> None:
        super().__init__(convert_charrefs=False)
        self.targets = targets
        self.out: list[str] = []
        self.closed = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.closed += tag in _CLOSED
        self.out.append(self.get_starttag_text() or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.out.append(self.get_starttag_text() or "")

    def handle_endtag(self, tag: str) -> None:
        self.closed -= tag in _CLOSED
        self.out.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.out.append(data if self.closed else _ID.sub(self._link, data))

    def handle_entityref(self, name: str) -> None:
        self.out.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.out.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.out.append(f"<!--{data}-->")

    def _link(self, match: re.Match[str]) -> str:
        target = self.targets.get(match[0])
        return f'<a class="req-ref" href="{target}">{match[0]}</a>' if target else match[0]
