from __future__ import annotations

from pathlib import Path

import traceability


def test_every_link_between_requirement_judge_and_mutant_holds() -> None:
    assert traceability.problems() == []


def test_a_mutants_expectation_is_read_from_its_source(tmp_path: Path) -> None:
    lie = tmp_path / "lie.py"
    lie.write_text('EXPECTED = ("RESUME-1", "EPOCH-1")\n', encoding="utf-8")
    assert traceability.expected_of(lie) == ["RESUME-1", "EPOCH-1"]


def test_there_are_mutants() -> None:
    assert len(traceability.mutants()) >= 12
