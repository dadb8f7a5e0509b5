from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import fences
import pytest

from midepoch_conformance.case.adapter import CHOICES, Offer

ROOT = Path(__file__).resolve().parents[2]
HIDDEN = {"tests", "hooks", "findings"}
"""Folders without fences to run; a finding's script runs in its loader's environment, nightly."""

LONG = (
    "docs/index.md",
    "docs/migrate-pytorch.md",
    "docs/migrate-torchdata.md",
    "docs/try-it.md",
    "docs/guides/reports.md",
)
"""The pages whose commands take long. ``make pages`` runs their fences, and CI does so."""

LONGEST = (
    "docs/adapter.md",
    "docs/guides/in-your-ci.md",
    "docs/guides/known-failures.md",
    "docs/guides/several-ranks.md",
    "docs/guides/your-own-loader.md",
)
"""The pages that take longest: ``.ci/nightly pages`` runs their fences."""

PAGES = os.environ.get("MIDEPOCH_PAGES", "short")


def pages() -> list[Path]:
    """Return every page whose fences must run now: the short ones, or those that are asked for."""
    docs = [p for p in (ROOT / "docs").rglob("*.md") if not HIDDEN & set(p.parts)]
    found = sorted([ROOT / "README.md", *docs, *(ROOT / "spec").rglob("*.md")])
    asked = {"long": LONG, "longest": LONGEST}
    if PAGES in asked:
        return [p for p in found if str(p.relative_to(ROOT)) in asked[PAGES]]
    return [p for p in found if str(p.relative_to(ROOT)) not in {*LONG, *LONGEST}]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_every_fence_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    parsed = fences.parse(page.read_text(encoding="utf-8"))
    folders = [tmp_path / "first", tmp_path / "second"]
    for folder in folders:
        folder.mkdir()
    try:
        fences.run(parsed, folders[0])
    except fences.FenceError as error:
        # A thread of gloo that still holds a tensor at the interpreter's end aborts the process
        # (pytorch/pytorch#179291): no program can prevent it, and the page is not at fault.
        if "terminate called without an active exception" not in str(error):
            raise
        fences.run(parsed, folders[1])


def test_the_long_pages_exist() -> None:
    assert all((ROOT / page).is_file() for page in (*LONG, *LONGEST))


def test_the_adapter_that_the_page_calls_short_is() -> None:
    page = (ROOT / "docs/adapter.md").read_text(encoding="utf-8")
    (adapter,) = [f for f in fences.parse(page) if "class Adapter" in f.code]
    assert len(adapter.code.splitlines()) < 40


def test_the_adapter_page_has_each_entry_of_an_offer_with_its_values() -> None:
    page = (ROOT / "docs/reference/adapter.md").read_text(encoding="utf-8")
    table = page.partition("## The entries of an offer")[2].partition("##")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    told = {name: row for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    fields = {field.name: field.default for field in dataclasses.fields(Offer)}
    assert set(told) == set(fields)
    for name, (_, values, default, _) in told.items():
        if name in CHOICES and name not in ("extras", "fixed_plan"):
            assert set(CHOICES[name]) <= set(re.findall(r"`([^`]+)`", values)), name
        if name not in ("saves", "reasons"):
            shown = repr(fields[name]).replace("'", '"')
            assert default == f"`{shown}`", name


def _run(text: str, folder: Path) -> None:
    fences.run(fences.parse(text), folder)


def test_a_fence_knows_its_line_its_language_and_its_comments() -> None:
    (fence,) = fences.parse("words\n<!-- exit: 1 -->\n<!-- output -->\n```console\n$ false\n```\n")
    assert (fence.line, fence.language, fence.code) == (4, "console", "$ false\n")
    assert fence.directives == {"exit": "1", "output": ""}


def test_an_indented_fence_loses_its_indent() -> None:
    (fence,) = fences.parse("- item\n\n    ```python\n    if 1:\n        pass\n    ```\n")
    assert fence.code == "if 1:\n    pass\n"


def test_a_longer_fence_holds_a_shorter_one() -> None:
    (fence,) = fences.parse("````text\n```python\n```\n````\n")
    assert fence.code == "```python\n```\n"


def test_an_included_file_stands_in_its_fence() -> None:
    (fence,) = fences.parse('```{ .python title="a" }\n--8<-- "text_lines.py"\n```\n')
    assert fence.code == (ROOT / "docs/recipes/text_lines.py").read_text(encoding="utf-8")
    with pytest.raises(fences.FenceError, match=r"no file to include: gone\.py"):
        fences.parse('```python\n--8<-- "gone.py"\n```\n')


@pytest.mark.parametrize(
    "text",
    [
        "<!-- output -->\n```console\n$ echo $((1 + 1))\n2\n$ printf 'a\\nb\\n'\n...\nb\n```\n",
        "```python\nprint(3)\n```\n<!-- output -->\n```text\n3\n```\n",
        "<!-- file: kept.py -->\n```python\nx = 4\n```\n```python\nimport kept\n```\n",
        "<!-- file: k.py -->\n```python\nx = 4\n```\n<!-- patch: k.py -->\n```diff\n- x = 4\n"
        "+ x = 5\n```\n```python\nimport k\nassert k.x == 5\n```\n",
        "<!-- exit: 3 -->\n```python\nraise SystemExit(3)\n```\n",
        "<!-- output -->\n```console\n$ echo a \\\n  b\na b\n```\n",
        "<!-- output: numbers may differ -->\n```console\n$ echo 12 in 3 s\n7 in 10 s\n```\n",
        '```json\n{"a": 1}\n```\n',
        "```pycon\n>>> 1 + 1\n2\n```\n",
        "<!-- not run: it needs a cluster -->\n```bash\nsrun train.py\n```\n",
    ],
)
def test_a_true_page_passes(text: str, tmp_path: Path) -> None:
    _run(text, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!-- output -->\n```console\n$ echo 2\n3\n```\n", "the page shows"),
        ("```console\n$ echo 2\n2\n```\n", "mark it"),
        ("```console\n$ false\n$ true\n```\n", "exit status 1"),
        ("```console\nmidepoch\n```\n", "lines that start"),
        ("```python\nprint(3)\n```\n<!-- output -->\n```text\n4\n```\n", "line 5: the page shows"),
        ("```python\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```pycon\n>>> 1 + 1\n3\n```\n", "exit status 1"),
        ("```bash\ntrue\n```\n", "say why"),
        ("```\ntrue\n```\n", "say why"),
        ("<!-- not run: -->\n```bash\ntrue\n```\n", "lacks the reason"),
        ("<!-- ouput -->\n```console\n$ true\n```\n", "'ouput' is none of"),
        ("<!-- file: kept.py -->\n```python\nx = 4\n```\n", "no later fence"),
        ("<!-- output: most -->\n```console\n$ echo 2\n2\n```\n", "is none of"),
        (
            "<!-- output: numbers may differ -->\n```console\n$ echo 2 a\n2 b\n```\n",
            "but it printed",
        ),
        ("```json\n{a: 1}\n```\n", "no JSON"),
        ("```python\n", "never closed"),
    ],
)
def test_a_false_page_is_caught(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(fences.FenceError, match=words):
        _run(text, tmp_path)


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a  \nb", "a\nb", True),
        ("a\n...\nc", "a\nb\nb\nc", True),
        ("a\n...\nc", "a\nc", True),
        ("in ... s", "in 3.5 s", True),
        ("in ... s", "in 3.5 s\nmore", False),
        ("a", "a\nb", False),
        ("a.c", "abc", False),
    ],
)
def test_what_is_shown_is_compared(shown: str, printed: str, same: bool) -> None:
    assert fences.matches(shown, printed) is same
