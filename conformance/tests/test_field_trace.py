from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import field_trace
import pytest
from field_table import Failure, FieldTableError, load, markdown

ROW = Failure(
    section="Resuming",
    wrong="It resumes elsewhere.",
    requirements=("RESUME-1", "DOC-14"),
    probes=("cut",),
    seen=("data#1", "data#2"),
)
WHOLE: dict[str, Any] = {
    "cited": {"RESUME-1": ("data#1", "data#2"), "DOC-14": (), "EPOCH-1": ()},
    "looked_at": {"RESUME-1": ("cut",), "EPOCH-1": ("later",)},
    "probes": ("cut", "later"),
    "mutants": {"RESUME-1": {"skips": ("data#2",)}, "EPOCH-1": {"repeats": ()}},
}


def test_a_whole_row_has_no_problem() -> None:
    assert field_trace.problems([ROW], **WHOLE) == []


@pytest.mark.parametrize(
    ("row", "whole", "words"),
    [
        ({"requirements": ("RESUME-1", "RESUME-99")}, {}, "RESUME-99 is no requirement"),
        ({"requirements": ("DOC-14",), "probes": ()}, {}, "none of DOC-14 has a judge"),
        ({"probes": ("cut", "gone")}, {}, "there is no family of cases 'gone'"),
        ({"probes": ("later",)}, {}, "no judge of RESUME-1 looks at 'later'"),
        ({"seen": ("data#1", "data#2", "data#3")}, {}, "DOC-14 cites data#3"),
        ({"seen": ("data#1",)}, {}, "no row is about data#2, which RESUME-1 answers"),
        ({}, {"mutants": {"RESUME-1": {"skips": ()}}}, "no mutant shows it"),
        ({}, {"mutants": {"EPOCH-1": {"repeats": ("data#1",)}}}, "caught by another requirement"),
        (
            {},
            {"mutants": {"RESUME-1": {"skips": ("data#1", "the weather")}}},
            "no row is about the weather, which mutant skips shows",
        ),
    ],
)
def test_a_broken_link_is_named(row: dict[str, Any], whole: dict[str, Any], words: str) -> None:
    found = field_trace.problems([dataclasses.replace(ROW, **row)], **{**WHOLE, **whole})
    assert any(words in line for line in found), found


def test_a_row_whose_requirements_are_the_nearest_need_not_be_cited() -> None:
    row = dataclasses.replace(ROW, seen=("data#1", "data#2", "data#3"), nearest="No other is.")
    assert field_trace.problems([row], **WHOLE) == []


def test_a_report_stands_in_one_row() -> None:
    assert "data#1 stands in 2 rows" in field_trace.problems([ROW, ROW], **WHOLE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[section]", "is no TOML"),
        ("[[section]]\ntitle = 'A'\nfailure = [{wrong = 'Bad.'}]\n", "section"),
        (
            "[[section]]\ntitle = 'A'\nfailure = [{wrong = 'Bad.', name = 'a', probes = ['cut'], "
            "requirements = ['RESUME-1'], seen = ['data1']}]\n",
            "seen",
        ),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "rows.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FieldTableError, match=words):
        load(path)


def test_a_row_is_rendered_with_what_shows_it() -> None:
    (line,) = [x for x in markdown((ROW,), {"skips": ("data#2",)}).splitlines() if "It res" in x]
    assert line.count(" | ") == 2
    assert "[data#2](https://github.com/meta-pytorch/data/issues/2)" in line
    assert re.search(r"\| RESUME-1, DOC-14<br>.*Played by cut.* \| <code>skips</code> \|$", line)


def test_the_failures_are_in_four_sections_and_each_is_a_sentence() -> None:
    rows = load()
    assert len({row.section for row in rows}) == 4
    assert len({row.wrong for row in rows}) == len(rows) > 40
