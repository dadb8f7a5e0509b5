"""Badges: valid SVG, with the words and colours of their class."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from reports import PAYLOAD, make_hostile, rewritten, simulated_report
from test_report_page import contrast

from midepoch_conformance.report.badge import badges, class_words, write_badges
from midepoch_conformance.report.document import Class, Document
from midepoch_conformance.report.file import load_report
from midepoch_conformance.report.overview import ClassView
from midepoch_conformance.text import clipped, printable
from midepoch_conformance.verdict import requirements

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.jsonl"
    simulated_report(path)
    return path


@pytest.fixture
def page(path: Path) -> Document:
    return load_report(path)


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{SVG}svg"
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def title(svg: str) -> str:
    return ElementTree.fromstring(svg).findtext(f"{SVG}title") or ""


def colour(svg: str) -> str:
    """Return the ground of the right-hand part."""
    return next(r for r in ElementTree.fromstring(svg).iter(f"{SVG}rect")).attrib["fill"]


def a_class(**counts: int) -> Class:
    named = {name.replace("_", " "): n for name, n in counts.items()}
    return Class(name="Resume", requirements=(), words="", counts=named)


def with_footer(page: Document, **changes: Any) -> Document:
    return dataclasses.replace(page, footer=dataclasses.replace(page.footer, **changes))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (a_class(**{"pass": 38}), "pass 38/38"),
        (a_class(**{"pass": 38, "not_offered": 5}), "pass 38/38"),
        (a_class(**{"pass": 38, "blocked": 2}), "pass 38/40"),
        (a_class(**{"pass": 38, "fails": 2, "unstable": 1}), "fails 3"),
        (a_class(fails_silently=3, not_offered=1), "fails 3"),
        (a_class(**{"pass": 1, "refused": 2}), "refused 2 of 3"),
        (a_class(**{"pass": 1, "error": 1}), "error 1 of 2"),
        (a_class(not_offered=9), "not offered"),
    ],
)
def test_a_class_in_a_few_words(entry: Class, words: str, page: Document) -> None:
    assert class_words(ClassView(entry, ())) == words
    found = badges(with_footer(page, classes=(entry,)))
    assert texts(found["resume.svg"]) == ["Resume", words]
    ground = colour(found["resume.svg"])
    assert contrast("#ffffff", ground) >= 4.5
    # white and black are the pages that a badge may stand on: it must not vanish on either
    assert min(contrast(ground, "#ffffff"), contrast(ground, "#000000")) >= 2


def test_a_run_that_known_failures_alone_break_says_so(page: Document) -> None:
    found = badges(with_footer(page, status=0))
    assert texts(found["midepoch.svg"]) == ["midepoch", "known failures 1"]


def test_every_badge_has_a_title_and_fits_its_words(page: Document) -> None:
    for svg in badges(page).values():
        root = ElementTree.fromstring(svg)
        assert root.attrib["role"] == "img"
        assert root.attrib["aria-labelledby"] == root.find(f"{SVG}title").attrib["id"]  # type: ignore[union-attr]
        width = float(root.attrib["width"])
        ends = [
            float(t.attrib["x"]) + float(t.attrib["textLength"]) / 2
            for t in root.iter(f"{SVG}text")
        ]
        assert ends == sorted(ends)
        assert ends[-1] < width


def test_no_text_of_a_loader_leaves_its_title(path: Path, tmp_path: Path) -> None:
    hostile = load_report(rewritten(path, tmp_path / "h.jsonl", make_hostile))
    for svg in badges(hostile).values():
        root = ElementTree.fromstring(svg)  # a control character would not be XML
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags == {"svg", "title", "rect", "path", "g", "text"}
        assert title(svg).startswith(clipped(printable(PAYLOAD, lines=False), 50)[:49])


def test_the_files_have_the_names_of_all_classes(page: Document, tmp_path: Path) -> None:
    classes = [
        Class(name=entry.name, requirements=(), words="", counts={"pass": 1})
        for entry in requirements.classes()
    ]
    paths = write_badges(with_footer(page, classes=classes), tmp_path / "badges")
    names = [path.name for path in paths]
    assert names[0] == "midepoch.svg"
    assert {"resume.svg", "values-ambient.svg", "order.svg"} <= set(names)
    assert len(set(names)) == len(requirements.classes()) + 1
    assert all(path.read_text(encoding="utf-8").startswith("<svg ") for path in paths)
