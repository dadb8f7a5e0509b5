"""The matrix's page: its words, its rows and its badges, made from reports alone."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from reports import make_hostile, make_stable, rewritten, simulated_report, truthful
from test_report_page import Page

from midepoch_conformance.cli import main
from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.loading import source_of
from midepoch_conformance.matrix import page, today
from midepoch_conformance.matrix.cells import MEANINGS, NOT_ASKED, cells_of, drawing, word
from midepoch_conformance.matrix.documented import Limit, limits
from midepoch_conformance.matrix.page import Finding, Judged, matrix_page, read_reports, write_pages
from midepoch_conformance.matrix.rows import ROWS, Row
from midepoch_conformance.report.file import ReportError
from midepoch_conformance.report.lines import spec_version, suite_version
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import OUTCOMES


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a loader that ignores its states, by this version of the suite."""
    folder = tmp_path_factory.mktemp("broken")
    simulated_report(folder / "raw.jsonl")
    return rewritten(folder / "raw.jsonl", folder / "report.jsonl", of_today)


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("right")
    simulated_report(folder / "raw.jsonl", truthful)
    return rewritten(folder / "raw.jsonl", folder / "report.jsonl", of_today)


@pytest.fixture(autouse=True)
def cases_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the few cases of these reports count as those of today's table."""
    monkeypatch.setattr(page, "same_cases", lambda document: True)


def of_today(lines: list[dict[str, Any]]) -> None:
    make_stable(lines)
    lines[0] |= {"suite": suite_version(), "spec": spec_version()}


def put(report: Path, folder: Path, name: str, **header: Any) -> Path:
    """Write a report into ``folder`` under a row's name."""
    folder.mkdir(exist_ok=True)
    return rewritten(report, folder / f"{name}.jsonl", lambda lines: lines[0].update(header))


def header_of(report: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(report.read_text(encoding="utf-8").partition("\n")[0])
    return header


@pytest.mark.parametrize(
    ("outcome", "kind", "expected"),
    [
        ("fails silently", "missing", "silently wrong"),
        ("fails", "hang", "hangs"),
        ("fails", "crash", "crashes"),
        ("fails", "late error", "crashes"),
        ("fails", "cost", "fails"),
        ("fails", "leftover", "fails"),
        ("fails", "refusal", "refuses"),
        ("unstable", "missing", "unstable"),
        ("error", "adapter", "not judged"),
        ("refused", "", "refuses"),
        ("pass", "", "exact"),
        ("blocked", "missing", "blocked"),
        ("not offered", "", "not offered"),
    ],
)
def test_each_word_is_reached_by_a_line_of_a_report(
    broken: Path, tmp_path: Path, outcome: str, kind: str, expected: str
) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        played = [line for line in lines if line["type"] == "case"][:3]
        finding = {"requirement": "RESUME-1", "outcome": outcome, "kind": kind, "words": "so"}
        played[0]["findings"] = [finding if kind else {**finding, "kind": "x"}]
        if not kind:
            del played[0]["findings"][0]["kind"]
        # Neither of these two decides, whatever the first one says.
        played[1]["findings"] = [{"requirement": "RESUME-2", "outcome": "not offered"}]
        played[2]["findings"] = [{"requirement": "COST-1", "outcome": "pass"}]
        footer = lines[-1]
        lines[1:-1] = played
        footer |= {"failures": [], "blocked": [], "classes": [], "requirements": []}
        if outcome == "blocked":
            played[0]["findings"][0]["outcome"] = "fails silently"
            footer["blocked"] = [[0, "RESUME-1", "BASIS-1 fails here"]]

    folder = tmp_path / "results"
    folder.mkdir()
    rewritten(broken, folder / "one.jsonl", change)
    (row,) = read_reports(folder)
    assert word(outcome, kind) == expected
    cell = row.cell("Resume")
    assert cell.word == expected
    assert row.cell("Cost").told == "1 case"
    assert row.cell("State").word == NOT_ASKED
    unjudged = expected in ("not judged", "blocked", "not offered")
    assert (cell.judged, cell.left) == ((0, 2) if unjudged else (1, 1))
    shown = Page(matrix_page([row], ())).words
    told = {"exact": "1 case, 1 not judged", "not offered": "2 cases"}
    words = told.get(expected, "1 case" if unjudged else "1 of 1 case, 1 not judged")
    assert f"Resume {expected} {words}" in shown


def test_every_outcome_has_a_word_with_a_meaning() -> None:
    assert {word(outcome) for outcome in OUTCOMES} <= set(MEANINGS)


def test_cells_count_what_the_footer_counts(broken: Path, right: Path, tmp_path: Path) -> None:
    for report in (broken, right):
        put(report, tmp_path / "r", report.parent.name)
    for row in read_reports(tmp_path / "r"):
        asked = {entry.name for entry in row.document.footer.classes}
        assert set(cells_of(row.document)) == asked
        for entry in row.document.footer.classes:
            cell = row.cell(entry.name)
            assert cell.cases <= sum(entry.counts.values())
            assert (cell.word == "silently wrong") is bool(entry.counts.get("fails silently"))


def test_rows_stand_in_the_order_of_what_users_suffer(
    broken: Path, right: Path, tmp_path: Path
) -> None:
    put(right, tmp_path / "r", "alpha")
    put(broken, tmp_path / "r", "omega")
    rows = read_reports(tmp_path / "r")
    assert [row.name for row in rows] == ["omega", "alpha"]
    text = matrix_page(rows, (Row("alpha", "a", "e"), Row("later", "a", "e")))
    read = Page(text)
    found = [a["data-row"] for a in read.all("tr") if "data-found" in a]
    assert found == ["omega", "alpha"]
    assert "Not run yet: later." in read.words
    assert "Another version" not in read.words


def test_a_cell_leads_to_its_failure_with_case_drawing_adapter_and_time(
    broken: Path, tmp_path: Path
) -> None:
    put(broken, tmp_path / "r", "row")
    (row,) = read_reports(tmp_path / "r")
    read = Page(matrix_page([row], ()))
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert len(set(ids)) == len(ids)
    links = [a["href"] for a in read.all("a")]
    assert {link[1:] for link in links if link.startswith("#")} <= set(ids)
    assert "#row--resume" in links
    (failure,) = row.document.footer.failures
    for told in (failure.requirement, failure.id, failure.case_words, "Took"):
        assert told in matrix_page([row], ()) or told in read.words
    assert drawing(failure)
    assert drawing(failure) in "".join(read.texts)
    assert f"Adapter {row.document.header.loader.spec}" in read.words
    assert {a.get("scope") for a in read.all("th")} == {"col", "row"}
    assert len(read.all("caption")) == 2


def test_a_case_is_played_again_in_the_environment_of_its_row(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "nodes-0")
    put(broken, tmp_path / "r", "mine")
    mine, nodes = sorted(read_reports(tmp_path / "r"), key=lambda row: row.name)
    (failure,) = nodes.document.footer.failures
    assert nodes.replay(failure).endswith(" --python .venv-matrix/shared/bin/python")
    assert "--python" not in mine.replay(failure)


def test_links_lead_to_files_that_are_written(broken: Path, right: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "one")
    put(right, tmp_path / "r", "two")
    out = tmp_path / "out"
    write_pages(tmp_path / "r", out)
    read = Page((out / "index.md").read_text(encoding="utf-8"))
    named = [a.get("href") or a.get("src", "") for _, a in read.elements]
    files = {name.partition("#")[0] for name in named if name and not name.startswith("#")}
    assert {"matrix.css", "matrix.js", "reports/one.html", "badges/two/midepoch.svg"} <= files
    assert [name for name in files if not (out / name).is_file()] == []
    whole = Page((out / "reports/one.html").read_text(encoding="utf-8"))
    assert "failure-1" in {a.get("id") for _, a in whole.elements}


def test_the_same_reports_give_the_same_page(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "one")
    for name in ("a", "b"):
        write_pages(tmp_path / "r", tmp_path / name)
    for path in (tmp_path / "a").rglob("*.*"):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_an_anchor_belongs_to_the_latest_report_of_a_row(broken: Path, tmp_path: Path) -> None:
    # The loader of these reports has no version, which a file's name gives as 0.
    version = read_version(broken)
    put(broken, tmp_path / "r", f"row-{version}", started="2026-03-01T00:00:00+00:00")
    older = rewritten(
        broken, tmp_path / "r" / "row-0.9.jsonl",
        lambda lines: (lines[0].update(started="2025-01-01T00:00:00+00:00"),
                       lines[0]["loader"].update(version="0.9"))[0],
    )  # fmt: skip
    anchors = {row.file: row.anchor for row in read_reports(tmp_path / "r")}
    assert anchors == {f"row-{version}.jsonl": "row", older.name: "row-0-9"}


def read_version(report: Path) -> str:
    from midepoch_conformance.report.file import load_report

    return load_report(report).header.loader.version or "0"


def test_a_page_says_that_another_suite_judged(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "aged", suite="0.0.1")
    (row,) = read_reports(tmp_path / "r")
    words = Page(matrix_page([row], ())).words
    assert f"This page was made by suite {suite_version()}" in words
    assert f"Another version of these, of its adapter or of the cases judged {row.title}:" in words
    assert "judged by suite 0.0.1" in words


def test_a_page_says_that_other_cases_judged(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "same_cases", today.same_cases)
    put(broken, tmp_path / "r", "aged")
    put(broken, tmp_path / "s", "asked", only=["RESUME-1"])
    (row,), (asked,) = read_reports(tmp_path / "r"), read_reports(tmp_path / "s")
    assert (row.aged, asked.aged) == (True, False)
    assert "judged by the cases of an earlier table" in Page(matrix_page([row], ())).words


def test_a_page_says_that_another_adapter_was_at_work(right: Path, tmp_path: Path) -> None:
    def changed(digest: str, adapter: str = "torchdata") -> Judged:
        folder = tmp_path / digest[:8] / adapter
        loader = {**header_of(right)["loader"], "spec": adapter, "digest": digest}
        folder.mkdir(parents=True)
        put(right, folder, "row", loader=loader)
        return read_reports(folder)[0]

    source = source_of("torchdata")
    assert source is not None
    same = changed(hashlib.sha256(source.encode()).hexdigest())
    other, own = changed("0" * 64), changed("0" * 64, "mine.py:Adapter")
    assert [row.aged for row in (same, other, own)] == [False, True, False]
    words = Page(matrix_page([other], ())).words
    assert "played through an earlier version of its adapter" in words


def test_an_adapter_and_a_badge_are_at_hand(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "one", loader={**header_of(broken)["loader"], "spec": "nodes"})
    write_pages(tmp_path / "r", tmp_path / "out", address="https://a.b/matrix/")
    read = Page((tmp_path / "out/index.md").read_text(encoding="utf-8"))
    badge = "[![midepoch](https://a.b/matrix/badges/one/midepoch.svg)](https://a.b/matrix/#one)"
    assert badge in read.words
    adapter = (tmp_path / "out/adapters/one.py.txt").read_text(encoding="utf-8")
    assert "torchdata.nodes" in adapter
    assert "adapters/one.py.txt" in {a["href"] for a in read.all("a")}


def test_a_run_that_asked_for_less_says_so(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "few", only=["RESUME-1"])
    (row,) = read_reports(tmp_path / "r")
    assert "only 1 requirement asked" in Page(matrix_page([row], ())).words


def test_no_text_of_a_loader_becomes_an_element(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "row")
    plain = Page(matrix_page(read_reports(tmp_path / "r"), ()))
    hostile = tmp_path / "h"
    hostile.mkdir()
    rewritten(broken, hostile / "row.jsonl", make_hostile)
    text = matrix_page(read_reports(hostile), ())
    assert "`" not in text
    read = Page(text)
    tags = {name for name, _ in plain.elements} | {"li", "ul"}
    assert {name for name, _ in read.elements} <= tags
    assert not [a for _, a in read.elements if any(name.startswith("on") for name in a)]
    assert len(read.all("script")) == 1


def test_what_cannot_be_rendered_is_one_error_and_writes_nothing(
    broken: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with pytest.raises(CheckError, match="there is no such folder"):
        write_pages(tmp_path / "none", out)
    folder = tmp_path / "r"
    folder.mkdir()
    with pytest.raises(CheckError, match="has no report"):
        write_pages(folder, out)
    put(broken, folder, "good")
    (folder / "torn.jsonl").write_text('{"type": "header"\n', encoding="utf-8")
    with pytest.raises(ReportError, match=r"torn\.jsonl, line 1: not JSON"):
        write_pages(folder, out)
    (folder / "torn.jsonl").unlink()
    lines = broken.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "cut.jsonl").write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(ReportError, match="the run was interrupted after"):
        write_pages(folder, out)
    (folder / "cut.jsonl").write_text(lines[0].replace('"format": 2', '"format": 1'))
    assert main(["matrix", "render", str(folder), "--out", str(out)]) == 2
    assert "the report's format is 1" in capsys.readouterr().err
    assert not out.exists()


def test_two_reports_of_one_place_are_refused(broken: Path, tmp_path: Path) -> None:
    for name in ("row", "row!", "row-"):
        put(broken, tmp_path / "r", name)
    with pytest.raises(CheckError, match="would have the same place"):
        read_reports(tmp_path / "r")


def test_the_command_line_renders(
    right: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(right, tmp_path / "r", "fine")
    out = tmp_path / "out"
    assert main(["matrix", "render", str(tmp_path / "r"), "--out", str(out)]) == 0
    assert capsys.readouterr().out.endswith("index.md: the matrix\n")
    words = Page((out / "index.md").read_text(encoding="utf-8")).words
    assert f"Not run yet: {ROWS[0].name}, {ROWS[1].name}" in words


def test_costs_are_those_of_the_report(broken: Path, tmp_path: Path) -> None:
    figures = {"kind": "map", "workers": 2, "codec": "json", "early": 310, "refetched": 20_000}
    put(broken, tmp_path / "r", "plain")
    rewritten(
        broken,
        tmp_path / "r" / "row.jsonl",
        lambda lines: lines[-1].update(measured={**figures, "trouble": "no second state"}),
    )
    shown = Page(matrix_page(read_reports(tmp_path / "r"), ())).words
    assert "Early state 310 bytes Late state \N{EN DASH} Format JSON Fetched again 20,000" in shown
    assert "Early state \N{EN DASH} Late state \N{EN DASH} Format \N{EN DASH}" in shown
    assert "Not measured no second state" in shown


def test_a_documented_limit_is_shown_beside_the_cell(
    broken: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(broken, tmp_path / "r", "row")
    put(broken, tmp_path / "r", "other")
    limit = Limit(("row",), ("RESUME-1",), "A resume starts the epoch again.", "its guide, 1.0")
    monkeypatch.setattr(page, "limits", lambda: (limit,))
    rows = {row.name: row for row in read_reports(tmp_path / "r")}
    assert rows["row"].documented("Resume") == [limit]
    assert rows["row"].documented("Cost") == rows["other"].documented("Resume") == []
    # The remark in the table is for limits of what fails.
    assert rows["row"].excused("Resume")
    assert not rows["other"].excused("Resume")
    other = Limit(("row",), ("RESUME-5",), "A load applies to the next iterator.", "its guide, 1.0")
    assert not dataclasses.replace(rows["row"], limits=(other,)).excused("Resume")
    shown = Page(matrix_page(list(rows.values()), ())).words
    assert shown.count("A resume starts the epoch again.") == 1


def test_documented_limits_name_rows_and_requirements_that_exist() -> None:
    for limit in limits():
        assert limit.rows
        assert limit.requirements
        assert set(limit.rows) <= {row.name for row in ROWS}
        assert set(limit.requirements) <= set(requirements.load())
        assert limit.says.endswith(".")
        assert limit.where


def test_a_failing_class_leads_to_its_findings(broken: Path, tmp_path: Path) -> None:
    put(broken, tmp_path / "r", "row")
    (row,) = read_reports(tmp_path / "r")
    (failure,) = row.document.footer.failures
    known = Finding("It fails.", "../findings/x.html", ("row",), (failure.requirement,))
    others = (
        Finding("Another row's", "../findings/y.html", ("other",), (failure.requirement,)),
        Finding("Of what holds", "../findings/z.html", ("row",), ("COST-1",)),
    )
    read = Page(matrix_page(read_reports(tmp_path / "r", (known, *others)), ()))
    links = [a["href"] for a in read.all("a") if "findings" in a.get("href", "")]
    assert links == ["../findings/x.html"]
    assert "Finding : It fails." in read.words or "Finding: It fails." in read.words
