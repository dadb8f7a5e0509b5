"""The page of faults names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| .+ \| .+ \| `(?P<file>\w+\.py)::(?P<test>\w+)` \|$")


def test_each_row_names_a_test_that_exists() -> None:
    page = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")][2:]
    named = [ROW.match(line) for line in rows]
    assert len(named) > 20
    for row, found in zip(rows, named, strict=True):
        assert found is not None, f"no test in: {row}"
        source = (ROOT / "impl/tests" / found["file"]).read_text(encoding="utf-8")
        defined = {
            node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)
        }
        assert found["test"] in defined, f"there is no {found['file']}::{found['test']}"
