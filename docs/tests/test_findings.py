"""The pages of findings are whole, and speak of rows and requirements that exist."""

from __future__ import annotations

import re

import pytest
from findings import LOCKS, ROOT, FindingPage, pages

from midepoch_conformance.matrix.cells import class_of
from midepoch_conformance.matrix.page import Judged, read_reports
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
RESULTS = ROOT / "conformance" / "results"


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


def unexplained(rows: list[Judged], found: list[FindingPage]) -> list[str]:
    """Return the cells that are silently wrong and lead to no finding."""
    known = {
        (row, class_of(requirement))
        for page in found
        for row in page.about["rows"]
        for requirement in page.about["requirements"]
    }
    return [
        f"{row.name}: {name}"
        for row in rows
        for name, cell in row.cells.items()
        if cell.word == "silently wrong" and (row.name, name) not in known
    ]


def test_each_silently_wrong_cell_has_a_finding() -> None:
    assert unexplained(read_reports(RESULTS), PAGES) == []
