from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import built_page
import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
RULES = json.loads((ROOT / "spec/rules.json").read_text(encoding="utf-8"))
REQUIREMENTS = json.loads((ROOT / "spec/requirements.json").read_text(encoding="utf-8"))
_CSS_FETCH = re.compile(r"@import|url\(\s*[\"']?(?:https?:)?//", re.IGNORECASE)


def _pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_no_page_fetches_anything_from_another_host(site: Path) -> None:
    foreign = {
        f"{page.relative_to(site)}: {target}"
        for page in _pages(site)
        for target in built_page.read(page).fetched
        if target.startswith(("http:", "https:", "//"))
    }
    assert foreign == set()


def test_no_stylesheet_fetches_anything_from_another_host(site: Path) -> None:
    sheets = sorted(site.rglob("*.css"))
    assert sheets
    assert [s.name for s in sheets if _CSS_FETCH.search(s.read_text(encoding="utf-8"))] == []


def test_every_requirement_has_its_anchor_and_its_judge(site: Path) -> None:
    from midepoch_conformance.judges import REGISTRY

    for requirement in REQUIREMENTS["requirements"]:
        page = site / "spec" / requirement["page"].replace(".md", ".html")
        text = page.read_text(encoding="utf-8")
        assert requirement["id"] in built_page.read(page).anchors
        block = text.partition(f'id="{requirement["id"]}"')[2].partition("</div>")[0]
        judge = REGISTRY.get(requirement["id"])
        assert (judge.function.__name__ if judge else "Not judged") in block


def test_every_rule_has_its_anchor(site: Path) -> None:
    for rule in RULES["rules"]:
        page = site / "spec" / rule["page"].replace(".md", ".html")
        assert rule["id"] in built_page.read(page).anchors
        assert f"**{rule['id']}" not in page.read_text(encoding="utf-8")


def test_the_front_page_counts_the_requirements() -> None:
    front = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    judged = [r for r in REQUIREMENTS["requirements"] if not r["unjudged"]]
    assert f"{len(REQUIREMENTS['requirements'])} numbered requirements." in front
    assert f"{len(judged)} have an automatic test." in front


def test_every_requirement_is_in_the_table(site: Path) -> None:
    links = built_page.read(site / "spec/requirements.html").links
    missing = [r["id"] for r in REQUIREMENTS["requirements"] if not _linked(r["id"], links)]
    assert missing == []


def _linked(name: str, links: list[str]) -> bool:
    return any(link.endswith(f"#{name}") for link in links)


@pytest.mark.parametrize(
    "command",
    ["check", "explore", "replay", "list", "spec", "report", "diff", "inspect", "bench", "matrix"],
)
def test_the_command_line_reference_has_every_command(site: Path, command: str) -> None:
    page = built_page.read(site / "reference/cli.html")
    assert f"midepoch-{command}" in page.anchors


@pytest.mark.parametrize(
    "name",
    [
        "StatefulDataLoader",
        "StatefulDistributedSampler",
        "batch_info",
        "state_to_json",
        "state_from_json",
    ],
)
def test_the_api_reference_has_the_public_names(site: Path, name: str) -> None:
    page = built_page.read(site / "reference/api.html")
    assert any(a.split(".")[0] == "midepoch" and a.endswith(f".{name}") for a in page.anchors)


def test_the_api_reference_has_no_function_of_the_errors_module(site: Path) -> None:
    anchors = built_page.read(site / "reference/api.html").anchors
    shown = [a for a in anchors if a.startswith("midepoch.errors.")]
    assert "midepoch.errors.StateError" in shown
    # They are the package's own: a user catches errors and warnings.
    assert [a for a in shown if a.split(".")[2][0].islower()] == []


def test_every_failure_in_the_field_is_shown_with_a_mutant(site: Path) -> None:
    rows = tomllib.loads((ROOT / "docs/field-failures.toml").read_text(encoding="utf-8"))
    failures = [failure for section in rows["section"] for failure in section["failure"]]
    page = (site / "field-failures.html").read_text(encoding="utf-8")
    shown = re.findall(r"<tr>\s*<td>(.*?)</tr>", page, re.DOTALL)
    assert len(shown) == len(failures) > 0
    for row in shown:
        assert 'class="req-ref"' in row
        assert re.search(r"Played by \w", row)
        assert "<code>" in row.rpartition("<td>")[2]


def test_an_id_in_running_text_becomes_a_link(site: Path) -> None:
    page = (site / "guides/reading-a-result.html").read_text(encoding="utf-8")
    assert re.search(r'<a class="req-ref" href="[^"]*spec/resume.html#RESUME-1">RESUME-1</a>', page)
