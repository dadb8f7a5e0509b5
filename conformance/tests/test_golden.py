"""Reports as readers see them, compared with the files of ``golden/``.

``pytest --write-golden`` rewrites the files; read the differences before you commit them.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from reports import (
    ignores_loads,
    make_hostile,
    make_mixed,
    make_stable,
    rewritten,
    simulated_report,
    truthful,
)
from rich.console import Console
from test_check import TABLE

from midepoch_conformance.report.badge import badges
from midepoch_conformance.report.diff import diff_markdown, report_diff, show_diff
from midepoch_conformance.report.document import Case, Document, Footer, Header
from midepoch_conformance.report.file import load_report
from midepoch_conformance.report.markdown import markdown
from midepoch_conformance.report.page import html_page
from midepoch_conformance.report.terminal import show_report
from midepoch_conformance.verdict.results import Known

Golden = Callable[[str, str], None]


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a report of each sort: two loaders, a known failure, and reports that were changed."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    entry = Known("RESUME-1", "https://example.org/7", "upstream", TABLE[2], "known.toml, entry 1")
    runs = (
        ("passes", truthful, ()),
        ("fails", ignores_loads, ()),
        ("known", ignores_loads, (entry,)),
    )
    for name, lie, known in runs:
        simulated_report(folder / "plain.jsonl", lie, known)
        found[name] = rewritten(folder / "plain.jsonl", folder / f"{name}.jsonl", make_stable)
    for name, change in (("mixed", make_mixed), ("hostile", make_hostile)):
        found[name] = rewritten(found["fails"], folder / f"{name}.jsonl", change)
    return found


def on_terminal(document: Document) -> str:
    out = io.StringIO()
    show_report(document, Console(file=out, width=120))
    return out.getvalue()


def without_assets(document: Document) -> str:
    """Return the page without its style and its script, which are files of their own."""
    return re.sub(r"(<(style|script)>).*?(</\2>)", r"\1\3", html_page(document), flags=re.DOTALL)


def all_badges(document: Document) -> str:
    return "\n".join(f"{name}\n{svg}" for name, svg in badges(document).items())


FORMS = {
    "terminal.txt": on_terminal,
    "page.html": without_assets,
    "comment.md": markdown,
    "badges.txt": all_badges,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["passes", "fails", "known", "mixed", "hostile"])
def test_a_report_looks_as_it_did(
    name: str, form: str, paths: dict[str, Path], golden: Golden
) -> None:
    golden(f"{name}.{form}", FORMS[form](load_report(paths[name])))


@pytest.mark.parametrize("name", ["passes", "fails", "known"])
def test_the_lines_of_a_report_are_as_they_were(
    name: str, paths: dict[str, Path], golden: Golden
) -> None:
    golden(f"{name}.report.jsonl", paths[name].read_text(encoding="utf-8"))


def test_a_line_that_is_read_is_written_as_it_was(paths: dict[str, Path]) -> None:
    kinds: dict[str, type[Header | Case | Footer]] = {
        "header": Header,
        "case": Case,
        "footer": Footer,
    }
    for path in paths.values():
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            part = kinds[line["type"]].from_json(line)
            assert {"type": line["type"], **part.to_json()} == line


@pytest.mark.parametrize(
    ("old", "new"),
    [("passes", "fails"), ("fails", "passes"), ("fails", "mixed"), ("fails", "hostile")],
)
def test_a_difference_looks_as_it_did(
    old: str, new: str, paths: dict[str, Path], golden: Golden
) -> None:
    diff = report_diff(load_report(paths[old]), load_report(paths[new]), force=True)
    out = io.StringIO()
    show_diff(diff, Console(file=out, width=120))
    golden(f"{old}-{new}.diff.txt", out.getvalue())
    golden(f"{old}-{new}.diff.md", diff_markdown(diff))
