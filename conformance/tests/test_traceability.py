from __future__ import annotations

from pathlib import Path

import traceability


def test_every_link_between_requirement_judge_and_mutant_holds() -> None:
    assert traceability.problems() == []


def test_what_a_mutant_says_is_read_from_its_source(tmp_path: Path) -> None:
    lie = tmp_path / "lie.py"
    lie.write_text('EXPECTED = "RESUME-1"\nFIELD = ("data#1",)\nraise SystemExit\n', "utf-8")
    assert traceability.read(lie) == traceability.Mutant(lie, "", "RESUME-1", field=("data#1",))
    lie.write_text("LARGEST = {}\n", encoding="utf-8")
    assert traceability.read(lie) is None
