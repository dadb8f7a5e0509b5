"""Read a built HTML page: its anchors, its links and the files that a browser would fetch."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

_FETCHED = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
}
_NOT_FETCHED_RELS = {"canonical", "prev", "next", "alternate"}


@dataclass
class BuiltPage:
    """The anchors, links and fetched files of a page."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)


def read(path: Path) -> BuiltPage:
    """Return the content of the page at ``path``."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = BuiltPage()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {k: v for k, v in attrs if v}
        self.page.anchors |= {values[k] for k in ("id", "name") if k in values}
        if tag == "a" and "href" in values:
            self.page.links.append(values["href"])
        target = values.get(_FETCHED.get(tag, ""))
        if target and values.get("rel") not in _NOT_FETCHED_RELS:
            self.page.fetched.append(target)
