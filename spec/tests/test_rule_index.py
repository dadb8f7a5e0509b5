"""The index of rules equals the prose, and a faulty rule, id or link is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import rule_index
from requirement_index import ProseError

PROSE = rule_index.build()
RULE = '<a id="RES-{n}"></a>**RES-{n}.** The loader resumes.'
HEAD = "**Normative:** the requirements and the rules.\n\n"
TABLE = "| **RES** | [Page](page.md) | resumes | RESUME-1 |"
PINS = "| RES-1 | `resumes/*` |"
REQUIREMENT = (
    '- <a id="RESUME-1"></a>**RESUME-1** · Resume · MUST · refusal: refused — It MUST. '
    "*Why:* it does."
)
RETIRED = '- <a id="RES-{n}"></a>**RES-{n}** · retired in 1.1 — no longer true.'


def spec_of(
    tmp_path: Path, *rules: str, changelog: str = "", table: str = TABLE, pins: str = PINS
) -> Path:
    (tmp_path / "vectors/resumes").mkdir(parents=True, exist_ok=True)
    for name in ("one", "two"):
        (tmp_path / f"vectors/resumes/{name}.json").write_text("{}", encoding="utf-8")
    (tmp_path / "vectors/README.md").write_text(pins, encoding="utf-8")
    (tmp_path / "index.md").write_text("**Version:** 1.0 · draft\n", encoding="utf-8")
    (tmp_path / "conformance.md").write_text(
        f"| **Resume** | any loader | resumes |\n\n{table}\n", encoding="utf-8"
    )
    (tmp_path / "changelog.md").write_text(changelog, encoding="utf-8")
    text = HEAD + "\n\n".join([REQUIREMENT, *rules]) + "\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_index_equals_the_prose() -> None:
    text = rule_index.INDEX.read_text(encoding="utf-8")
    assert text == rule_index.dumps(PROSE), "run: python spec/tests/rule_index.py --write"


def test_every_reference_to_a_rule_resolves() -> None:
    rule_index.check_references(rule_index.pages())


def test_every_rule_is_a_sentence_or_has_what_its_colon_announces() -> None:
    for rule in PROSE["rules"]:
        assert rule["text"].endswith((".", "|", "```")), rule["id"]


def test_rules_are_parsed(tmp_path: Path) -> None:
    formula = "<!-- not run -->\n```text\na = 1\n\nb = 2\n```"
    spec = spec_of(tmp_path, RULE.format(n=1), RULE.format(n=2)[:-1] + "\nso:", formula, "A note.")
    index: dict[str, Any] = rule_index.build(spec)
    assert index["kinds"] == [
        {
            "prefix": "RES",
            "page": "page.md",
            "about": "resumes",
            "requirements": ["RESUME-1"],
        }
    ]
    assert index["rules"] == [
        {
            "id": "RES-1",
            "page": "page.md",
            "text": "The loader resumes.",
            "vectors": ["resumes/one", "resumes/two"],
        },
        {
            "id": "RES-2",
            "page": "page.md",
            "text": "The loader resumes so:\n\n```text\na = 1\n\nb = 2\n```",
            "vectors": [],
        },
    ]


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([RULE.format(n=1), RULE.format(n=1)], "used twice"),
        ([RULE.format(n=1), RULE.format(n=3)], "left out, and not listed as retired: RES-2"),
        ([RULE.format(n=1).replace('id="RES-1"', 'id="RES-2"')], "the anchor of RES-1"),
        ([RULE.format(n=1).replace("**RES-1.**", "RES-1.")], "not in the shape of a rule"),
        ([RULE.format(n=1).replace("RES", "ODD")], "no rules such as ODD-1 belong"),
        ([RULE.format(n=1), "A loader MUST resume."], "a key word without an id"),
        ([], "there are no rules RES"),
    ],
    ids=["twice", "gap", "anchor", "shape", "kind", "key-word", "none"],
)
def test_a_faulty_rule_is_found(tmp_path: Path, rules: list[str], message: str) -> None:
    with pytest.raises(ProseError, match=message):
        rule_index.build(spec_of(tmp_path, *rules))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.replace("**RES**", "**RESUME**"), "the prefix of requirements"),
        (TABLE.replace("RESUME-1", "RESUME-2"), "no requirement RESUME-2"),
        (TABLE.replace("page.md", "other.md"), "no rules such as RES-1 belong"),
    ],
    ids=["prefix", "requirement", "page"],
)
def test_a_faulty_kind_is_found(tmp_path: Path, table: str, message: str) -> None:
    with pytest.raises(ProseError, match=message):
        rule_index.build(spec_of(tmp_path, RULE.format(n=1), table=table))


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        (PINS.replace("RES-1", "RES-2"), "there is no rule RES-2"),
        (PINS.replace("resumes/*", "resumes/three"), "RES-1: there is no resumes/three"),
        (PINS.replace("resumes/*", "resumes/one"), "no rule stands beside resumes/two"),
    ],
    ids=["rule", "vector", "left"],
)
def test_a_faulty_table_of_vectors_is_found(tmp_path: Path, pins: str, message: str) -> None:
    with pytest.raises(ProseError, match=message):
        rule_index.build(spec_of(tmp_path, RULE.format(n=1), pins=pins))


def test_a_retired_rule_leaves_its_number_and_is_not_reused(tmp_path: Path) -> None:
    rules = [RULE.format(n=1), RULE.format(n=3)]
    index = rule_index.build(spec_of(tmp_path, *rules, changelog=RETIRED.format(n=2)))
    assert [rule["id"] for rule in index["rules"]] == ["RES-1", "RES-3"]
    with pytest.raises(ProseError, match="RES-3 is retired and may not be reused"):
        rule_index.build(spec_of(tmp_path, *rules, changelog=RETIRED.format(n=3)))


def test_a_rule_that_vanishes_without_being_retired_is_found(tmp_path: Path) -> None:
    old = rule_index.build(spec_of(tmp_path, RULE.format(n=1), RULE.format(n=2)))
    new = rule_index.build(spec_of(tmp_path, RULE.format(n=1)))
    assert rule_index.lost(old, new, []) == ["RES-2"]
    assert rule_index.lost(old, new, ["RES-2"]) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[here](page.md#RES-1), [there](../spec/page.md#RESUME-1), RES-1.", None),
        ("[here](page.md#RES-2)", "page.md#RES-2 leads nowhere"),
        ("[here](#RES-1)", "#RES-1 leads nowhere"),
        ("[here](other.md#RESUME-1)", "other.md#RESUME-1 leads nowhere"),
        ("RES-1 and RES-9.", "there is no rule RES-9"),
    ],
)
def test_a_reference_that_leads_nowhere_is_found(
    tmp_path: Path, text: str, found: str | None
) -> None:
    spec = spec_of(tmp_path, RULE.format(n=1))
    page = tmp_path / "guide.md"
    page.write_text(text, encoding="utf-8")
    if found is None:
        rule_index.check_references([page], spec)
    else:
        with pytest.raises(ProseError, match=found):
            rule_index.check_references([page], spec)
