from __future__ import annotations

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import built_page
import pytest

read = cache(built_page.read)


def broken_links(site: Path) -> list[str]:
    """Return each link inside the site that leads to no page or to no anchor of its page."""
    out = []
    for page in sorted(site.rglob("*.html")):
        if page.name == "404.html":  # its links are relative to wherever the server shows it
            continue
        for link in read(page).links:
            if reason := _broken(site, page, link):
                out.append(f"{page.relative_to(site)}: {link}: {reason}")
    return out


def _broken(site: Path, page: Path, link: str) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target = target / "index.html"
    if not target.is_relative_to(site.resolve()):
        return "leads out of the site"
    if not target.is_file():
        return "no such page"
    if parts.fragment and unquote(parts.fragment) not in read(target).anchors:
        return "no such anchor"
    return None


def test_every_internal_link_and_anchor_resolves(site: Path) -> None:
    assert broken_links(site) == []


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ("b/", None),
        ("b/#there", None),
        ("#here", None),
        ("https://example.org/x", None),
        ("b/#gone", "no such anchor"),
        ("c/", "no such page"),
        ("../up", "leads out of the site"),
    ],
)
def test_a_broken_link_is_found(tmp_path: Path, link: str, reason: str | None) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b/index.html").write_text('<p id="there"></p>', encoding="utf-8")
    page = tmp_path / "index.html"
    page.write_text(f'<a id="here" href="{link}">x</a>', encoding="utf-8")
    assert broken_links(tmp_path) == ([] if reason is None else [f"index.html: {link}: {reason}"])
