"""Two folders of reports are compared cell by cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reports import rewritten, simulated_report, truthful
from same_cells import differences

from midepoch_conformance.matrix.page import read_reports


def test_a_changed_cell_is_told_and_a_missing_row_is_not(tmp_path: Path) -> None:
    broken, right = tmp_path / "broken.jsonl", tmp_path / "right.jsonl"
    simulated_report(broken)
    simulated_report(right, truthful)

    def put(folder: str, report: Path, name: str) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)

        def later(lines: list[dict[str, Any]]) -> None:
            lines[-1]["seconds"] = 9.0

        rewritten(report, tmp_path / folder / f"{name}.jsonl", later)

    put("published", broken, "one")
    put("published", right, "two")
    put("again", broken, "one")
    published = read_reports(tmp_path / "published")
    assert differences(published, read_reports(tmp_path / "again")) == []
    put("other", right, "one")
    put("other", right, "three")
    found = differences(published, read_reports(tmp_path / "other"))
    assert any("Resume: silently wrong" in line and "exact now" in line for line in found)
    assert any(line.endswith("is not published") for line in found)


def test_reports_of_two_profiles_are_not_compared(tmp_path: Path) -> None:
    for folder, profile in (("published", "quick"), ("again", "full")):
        (tmp_path / folder).mkdir()
        report = tmp_path / folder / "one.jsonl"
        simulated_report(tmp_path / "report.jsonl")

        def of_profile(lines: list[dict[str, Any]], profile: str = profile) -> None:
            lines[0]["profile"] = profile

        rewritten(tmp_path / "report.jsonl", report, of_profile)
    published, again = (read_reports(tmp_path / folder) for folder in ("published", "again"))
    (said,) = differences(published, again)
    assert said.endswith("quick was published, full is played now")
