"""Every row of the page of behaviours has its verdicts, and tests that exist."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import midepoch

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/migration.md").read_text(encoding="utf-8")
VERDICTS = {"same", "better", "different", "new"}


def _rows() -> list[list[str]]:
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] not in ("Behaviour", "---")]


def test_every_row_has_two_verdicts_and_says_something() -> None:
    rows = _rows()
    assert len(rows) > 50
    for row in rows:
        assert len(row) == 4, row[0]
        assert {row[1], row[2]} <= VERDICTS, row[0]
        words = re.sub(r"<!--.*?-->", "", row[3]).strip()
        assert words, row[0]


def test_every_row_is_shown_by_tests_that_exist() -> None:
    missing = []
    for row in _rows():
        comment = re.search(r"<!-- (.*?) -->", row[3])
        assert comment, row[0]
        for name in comment[1].split(", "):
            path, _, test = name.partition("::")
            file = ROOT / path
            there = file.is_file() and f"def {test}(" in file.read_text(encoding="utf-8")
            if not there:
                missing.append(name)
    assert missing == []


def test_every_argument_is_in_the_table() -> None:
    table = PAGE.partition("## Arguments")[2].partition("\n## ")[0]
    named = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", table))))
    assert set(inspect.signature(midepoch.StatefulDataLoader).parameters) <= named
