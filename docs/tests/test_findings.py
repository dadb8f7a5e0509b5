"""The pages of findings are whole, and speak of rows and requirements that exist."""

from __future__ import annotations

import re

import pytest
from findings import LOCKS, FindingPage, pages

from midepoch_conformance.matrix.rows import ROWS
from midepoch_conformance.verdict import requirements

PARTS = [
    "Expected and got",
    "Cause",
    "Known upstream",
    "Proposed fix",
    "Report, ready to post",
]
PAGES = list(pages())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path.stem)
def test_a_finding_is_whole(page: FindingPage) -> None:
    about = page.about
    assert set(about) == {"title", "loader", "version", "environment", "rows", "requirements"}
    assert re.findall(r"^## (.+)$", page.text, re.M) == PARTS
    assert page.text.startswith(f"# {about['title']}\n\n")
    assert set(about["rows"]) <= {row.name for row in ROWS}
    assert set(about["requirements"]) <= set(requirements.load())
    lock = (LOCKS / f"{about['environment']}.txt").read_text(encoding="utf-8")
    assert f"=={about['version']}" in lock
    compile(page.script, page.path.name, "exec")
    assert "midepoch" not in page.script
    assert page.prints.strip()
    assert page.text.splitlines().count("> SCRIPT") == 1
    assert re.search(r"`[\w./]+\.pyx?:\d+", page.text), "the cause names no file and line"
