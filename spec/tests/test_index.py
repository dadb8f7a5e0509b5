"""The index of requirements equals the prose, and both are in order."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requirement_index

PROSE = requirement_index.build()
INDEX: dict[str, Any] = json.loads(requirement_index.INDEX.read_text(encoding="utf-8"))
FIELDS = {"id", "class", "level", "refusal", "text", "why", "field", "unjudged", "page"}
ONE = (
    '- <a id="RESUME-1"></a>**RESUME-1** · Resume · MUST · refusal: refused — It MUST. '
    "*Why:* it does. *Field:* data#1, verl#22."
)


def spec_of(tmp_path: Path, page: str = "", changelog: str = "") -> Path:
    (tmp_path / "index.md").write_text("**Version:** 1.0 · draft\n", encoding="utf-8")
    (tmp_path / "conformance.md").write_text(
        "| **Resume** | any loader | resumes |\n", encoding="utf-8"
    )
    (tmp_path / "changelog.md").write_text(changelog, encoding="utf-8")
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    return tmp_path


def test_the_index_equals_the_prose() -> None:
    text = requirement_index.INDEX.read_text(encoding="utf-8")
    assert text == requirement_index.dumps(PROSE), (
        "run: python spec/tests/requirement_index.py --write"
    )


def test_every_requirement_has_every_field() -> None:
    for entry in INDEX["requirements"]:
        assert set(entry) == FIELDS
        assert entry["text"].endswith((".", ":")), entry["id"]
        assert entry["why"].endswith("."), entry["id"]
        assert entry["why"][0].islower() or entry["why"].split()[0] in ("NumPy's",), entry["id"]


def test_every_requirement_is_one_sentence_with_one_promise() -> None:
    for entry in INDEX["requirements"]:
        promises = re.findall(r"\b(?:MUST|SHOULD)\b", entry["text"])
        if entry["level"] == "MAY":
            assert promises == [], entry["id"]
            assert "MAY" in entry["text"], entry["id"]
        else:
            # An allowance may stand beside the promise: "MAY be refused instead".
            assert promises == [entry["level"]], entry["id"]
        assert ". " not in entry["text"], entry["id"]


def test_ids_are_unique_and_none_is_retired() -> None:
    ids = [entry["id"] for entry in INDEX["requirements"]]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & set(INDEX["retired"])


def test_every_class_has_requirements_and_the_reverse() -> None:
    named = {c["name"] for c in INDEX["classes"]}
    assert named == {entry["class"] for entry in INDEX["requirements"]}
    assert {c["binds"] for c in INDEX["classes"]} == {"any", "format"}


def test_every_field_reference_names_a_listed_repository() -> None:
    page = (requirement_index.SPEC / "conformance.md").read_text(encoding="utf-8")
    for entry in INDEX["requirements"]:
        for reference in entry["field"]:
            assert f"| {reference.split('#')[0]} |" in page, reference


def test_pages_state_version_status_and_what_is_normative() -> None:
    for page in requirement_index.SPEC.glob("*.md"):
        head = page.read_text(encoding="utf-8").splitlines()[2]
        version = f"**Version:** {INDEX['version']} · **Status:** "
        assert head.startswith(version), page.name
        assert "**Normative:**" in head, page.name


def test_a_line_is_parsed(tmp_path: Path) -> None:
    (entry,) = requirement_index.build(spec_of(tmp_path, ONE))["requirements"]
    assert entry == {
        "id": "RESUME-1",
        "class": "Resume",
        "level": "MUST",
        "refusal": "refused",
        "text": "It MUST.",
        "why": "it does.",
        "field": ["data#1", "verl#22"],
        "unjudged": None,
        "page": "page.md",
    }


@pytest.mark.parametrize(
    ("page", "changelog"),
    [
        (ONE + "\n" + ONE, ""),
        (ONE.replace("MUST · ", "OUGHT · "), ""),
        (ONE.replace("refusal: refused", "refusal: no"), ""),
        (ONE.replace(" *Why:* it does.", ""), ""),
        (ONE.replace("data#1,", "data 1,"), ""),
        (ONE.replace('id="RESUME-1"', 'id="RESUME-2"'), ""),
        (ONE.replace("· Resume ·", "· Epochs ·"), ""),
        (" " + ONE, ""),
        (ONE, '- <a id="RESUME-1"></a>**RESUME-1** · retired in 1.1 — no longer true.'),
    ],
    ids=[
        "twice",
        "level",
        "refusal",
        "no-why",
        "reference",
        "anchor",
        "class",
        "indented",
        "retired",
    ],
)
def test_a_faulty_line_is_an_error(tmp_path: Path, page: str, changelog: str) -> None:
    with pytest.raises(requirement_index.ProseError):
        requirement_index.build(spec_of(tmp_path, page, changelog))


def test_an_id_that_vanishes_without_being_retired_is_found(tmp_path: Path) -> None:
    old = requirement_index.build(spec_of(tmp_path, ONE))
    gone = requirement_index.build(spec_of(tmp_path, ""))
    assert requirement_index.lost(old, gone) == ["RESUME-1"]
    line = '- <a id="RESUME-1"></a>**RESUME-1** · retired in 1.1 — no longer true.'
    assert requirement_index.lost(old, requirement_index.build(spec_of(tmp_path, "", line))) == []
