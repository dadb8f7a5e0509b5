"""The texts made from a report: the page, the comment, the drawing, the terminal."""

from __future__ import annotations

import base64
import copy
import hashlib
import io
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from reports import PAYLOAD, make_hostile, make_mixed, rewritten, simulated_report
from rich.console import Console

from midepoch_conformance import judges
from midepoch_conformance.cli import main
from midepoch_conformance.families import tables
from midepoch_conformance.report import terminal
from midepoch_conformance.report.document import Document
from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.file import ReportError, load_report
from midepoch_conformance.report.markdown import code, markdown, plain
from midepoch_conformance.report.overview import kinds
from midepoch_conformance.report.page import html_page
from midepoch_conformance.report.timeline import draw
from midepoch_conformance.text import printable

thorough = examples(300)

VOID = {"meta", "br", "link", "img", "input", "hr", "rect"}
MUTANTS = Path(__file__).parent / "mutants"


class Page(HTMLParser):
    """A page's elements, their nesting checked, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.code: dict[str, str] = {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("style", "script"):
            self.code[self.open[-1]] = data
        else:
            self.texts.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [a for _, a in self.elements if name in a.get("class", "").split()]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of a loader that ignores its states."""
    path = tmp_path_factory.mktemp("report") / "report.jsonl"
    simulated_report(path)
    return path


@pytest.fixture
def page(path: Path) -> Document:
    return load_report(path)


def changed(path: Path, tmp_path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Document:
    return load_report(rewritten(path, tmp_path / "changed.jsonl", change))


# The page


def test_the_page_needs_nothing_but_itself(page: Document) -> None:
    text = html_page(page)
    read = Page(text)
    sources = [a.get("src") or a.get("href", "") for _, a in read.elements]
    assert {s[:1] for s in sources if s} == {"#"}
    assert not re.search(r"url\(|@import|@font-face", read.code["style"])
    assert not read.all("link")
    policy = next(m["content"] for m in read.all("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(read.code[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not [a for _, a in read.elements if "style" in a]


def test_every_anchor_leads_somewhere_and_every_id_is_one_elements(page: Document) -> None:
    read = Page(html_page(page))
    ids = [a["id"] for _, a in read.elements if "id" in a]
    assert sorted(set(ids)) == sorted(ids)
    links = {a["href"][1:] for a in read.all("a")}
    assert links <= set(ids)
    assert {"RESUME-1", "class-Resume", "failure-1"} <= set(ids)
    copied = {b["data-copy"] for b in read.all("button") if "data-copy" in b}
    assert copied <= set(ids)


def test_a_requirement_that_is_not_offered_is_no_link(path: Path, tmp_path: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        for row in lines[-1]["requirements"]:
            if row["requirement"] == "EPOCH-1":
                row |= {"outcome": "not offered", "counts": {"not offered": 1}}

    read = Page(html_page(load_report(rewritten(path, tmp_path / "changed.jsonl", change))))
    assert "EPOCH-1" in read.words
    ids = {a["id"] for _, a in read.elements if "id" in a}
    assert {a["href"][1:] for a in read.all("a")} <= ids


def test_the_whole_list_is_there_without_the_script(page: Document) -> None:
    """Controls stay hidden until the page's script runs, since they need it."""
    hidden = [a for _, a in Page(html_page(page)).elements if "hidden" in a]
    assert hidden
    assert all("data-script" in a for a in hidden)


def test_the_filter_knows_each_line_by_class_and_verdict(page: Document) -> None:
    read = Page(html_page(page))
    found = {a["data-what"]: a["data-found"].split() for _, a in read.elements if "data-what" in a}
    assert found["failures"] == ["Resume/fails-silently"]
    resume = next(a for a in read.of_class("requirement") if a["id"] == "RESUME-1")
    assert "Resume/fails-silently" in resume["data-found"]
    offered = {f"{o.get('value')}" for o in read.all("option")}
    tokens = [t for _, a in read.elements for t in a.get("data-found", "").split()]
    assert {part for token in tokens for part in token.split("/")} <= offered


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("colour", ["text", "quiet", "accent", "green", "red", "amber", "violet"])
def test_the_colours_can_be_read_in_both_modes(scheme: str, colour: str, page: Document) -> None:
    style = Page(html_page(page)).code["style"]
    blocks = re.findall(r"(:root[^{]*)\{([^}]*--page:[^}]*)\}", style)
    selector = ':root[data-theme="dark"] ' if scheme == "dark" else ":root "
    rules = next(rules for name, rules in blocks if name == selector)
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", rules))
    grounds = ["page", "panel"] if f"{colour}-soft" not in colours else ["page", f"{colour}-soft"]
    for ground in grounds:
        assert contrast(colours[colour], colours[ground]) >= 4.5, (colour, ground)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_text_of_a_loader_becomes_more_than_text(path: Path, tmp_path: Path) -> None:
    clean = Page(html_page(load_report(path)))
    text = html_page(changed(path, tmp_path, make_hostile))
    read = Page(text)
    assert {tag for tag, _ in read.elements} <= {tag for tag, _ in clean.elements} | {"dt", "code"}
    assert len(read.all("script")) == len(read.all("style")) == 1
    assert read.code["script"] == clean.code["script"]
    assert not [a for _, a in read.elements if any(name.startswith("on") for name in a)]
    assert {a["href"][:1] for a in read.all("a")} == {"#"}
    shown = " ".join(printable(PAYLOAD).split())
    assert read.words.count(shown) > 20
    assert not [c for c in html_page(changed(path, tmp_path, make_hostile)) if c in "\x1b\u202e"]


def test_a_link_of_a_known_failure_is_an_address_or_text(path: Path, tmp_path: Path) -> None:
    read = Page(html_page(changed(path, tmp_path, make_mixed)))
    links = [a["href"] for a in read.all("a") if not a["href"].startswith("#")]
    assert links == ["https://example.org/a?b=1&c=2"]
    assert "javascript:alert(1)" in read.words


def test_a_report_of_1500_cases_with_long_texts_is_one_page(path: Path, tmp_path: Path) -> None:
    def grow(lines: list[dict[str, Any]]) -> None:
        header, *middle, footer = lines
        many = []
        for index in range(1500):
            line = copy.deepcopy(middle[index % len(middle)])
            line |= {"index": index, "id": f"{index:012x}", "words": f"case {index} " + "x" * 500}
            many.append(line)
        failures = []
        for number in range(300):
            failure = copy.deepcopy(footer["failures"][0])
            failures.append(failure | {"words": f"failure {number} {'long ' * 400}"})
        footer |= {"failures": failures, "cases": 1500}
        lines[:] = [header, *many, footer]

    page = changed(path, tmp_path, grow)
    read = Page(html_page(page))
    assert len([a for _, a in read.elements if a.get("data-what") == "cases"]) == 1500
    assert len(read.of_class("failure")) == 300
    assert "case 1499 " in read.words
    text = markdown(page)
    assert len(text) < 65_536
    assert re.search(r"^And \d+ more: RESUME-1 fails silently", text, re.MULTILINE)
    assert text.endswith("$ midepoch check simulated --profile quick\n```\n")


def test_a_report_of_another_specification_is_shown(path: Path, tmp_path: Path) -> None:
    """Its requirements, classes and kinds of workload need not be those of this one."""
    text = path.read_text(encoding="utf-8")
    text = text.replace("RESUME-1", "NOVEL-99").replace('"name": "Resume"', '"name": "Novel"')
    other = tmp_path / "other.jsonl"
    other.write_text(text.replace('"map"', '"cards"'), encoding="utf-8")
    page = load_report(other)
    read = Page(html_page(page))
    assert "no such requirement" in read.words
    assert "NOVEL-99" in markdown(page)
    assert kinds(page) == ("cards",)
    out = io.StringIO()
    terminal.show_report(load_report(other), Console(file=out, width=120))
    assert "NOVEL-99" in out.getvalue()


def test_a_case_that_this_suite_does_not_know_is_shown(path: Path, tmp_path: Path) -> None:
    def novel(lines: list[dict[str, Any]]) -> None:
        lines[1]["case"]["workload"]["colour"] = "red"

    report = changed(path, tmp_path, novel)
    assert html_page(report)
    out = io.StringIO()
    terminal.show_report(report, Console(file=out, width=120))
    assert "RESUME-1" in out.getvalue()


def test_a_failure_that_only_company_shows_is_told(path: Path, tmp_path: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        passed = next(f for line in lines[1:-1] for f in line["findings"] if f["outcome"] == "pass")
        passed |= {"kind": "company", "words": "fails only while other cases run: so"}

    document = load_report(rewritten(path, tmp_path / "changed.jsonl", change))
    assert "fails only while other cases run: so" in Page(html_page(document)).words


def test_no_text_of_a_loader_steers_the_terminal(path: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    terminal.show_report(changed(path, tmp_path, make_hostile), Console(file=out, width=120))
    assert not set(out.getvalue()) & set("\x1b\u202e")


def test_every_text_names_the_worst_case_beside_the_smallest(path: Path, tmp_path: Path) -> None:
    def worsen(lines: list[dict[str, Any]]) -> None:
        lines[-1]["failures"][0]["worst"] = "30 samples of 31 are missing"

    report = changed(path, tmp_path, worsen)
    out = io.StringIO()
    terminal.show_report(report, Console(file=out, width=120))
    assert out.getvalue().count("30 samples of 31 are missing") == 1
    assert Page(html_page(report)).words.count("worst 30 samples of 31 are missing") == 1
    assert "- worst: `30 samples of 31 are missing`" in markdown(report)


def test_every_text_tells_where_the_processes_stood(path: Path, tmp_path: Path) -> None:
    def hang(lines: list[dict[str, Any]]) -> None:
        frames = (f"  me/a.py:{number} in wait" for number in range(40))
        lines[-1]["failures"][0]["stacks"] = "\n".join(["Thread:", *frames])

    report = changed(path, tmp_path, hang)
    out = io.StringIO()
    terminal.show_report(report, Console(file=out, width=120))
    assert "me/a.py:0 in wait" in out.getvalue()
    assert "and 17 more lines" in out.getvalue()
    assert "me/a.py:39 in wait" in Page(html_page(report)).words
    assert "\n  me/a.py:39 in wait\n" in markdown(report)


# The comment


def test_no_text_of_a_loader_formats_anything(path: Path, tmp_path: Path) -> None:
    def rendered(report: Document) -> Page:
        reader = MarkdownIt("commonmark").enable("table")
        return Page(reader.render(markdown(report)))

    clean, read = rendered(load_report(path)), rendered(changed(path, tmp_path, make_hostile))
    # the loader has a note on its script now
    assert {tag for tag, _ in read.elements} == {tag for tag, _ in clean.elements}
    assert len(read.all("td")) == len(clean.all("td"))
    assert not [a for _, a in read.elements if "href" in a or "src" in a]
    assert " ".join(printable(PAYLOAD).split()) in read.words


@thorough
@given(st.text())
def test_plain_text_and_code_say_what_they_were_given(text: str) -> None:
    reader = MarkdownIt("commonmark").enable("table")
    shown = printable(text, lines=False)
    for made in (plain(text), code(text)):
        tokens = reader.parseInline(f"a {made} b")[0].children or []
        parted = [t.content for t in tokens if t.type == "html_inline"]
        assert set(parted) <= {"<!-- -->"}
        texts = [t for t in tokens if t.type != "html_inline"]
        assert {t.type for t in texts} <= {"text", "code_inline", "text_special"}
        assert "".join(t.content for t in texts) == f"a {shown} b"


def test_plain_text_mentions_nobody_and_refers_to_nothing() -> None:
    reader = MarkdownIt("commonmark")
    shown = reader.renderInline(plain("by @all, see #1 and http://a.b www.c.d"))
    assert not re.search(r"@\w|#\d|http:/|www\.\w", shown)


@thorough
@given(st.text())
def test_code_stays_in_its_cell(text: str) -> None:
    reader = MarkdownIt("commonmark").enable("table")
    table = reader.render(
        f"| a | b |\n| --- | --- |\n| x{code(text, cell=True)} | y{plain(text)} |"
    )
    read = Page(table)
    assert len(read.all("td")) == 2


# The command


@pytest.fixture
def _away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("_away")
def test_without_options_the_terminal_shows_what_the_check_showed(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(path)]) == 0
    printed = capsys.readouterr().out
    out = io.StringIO()
    terminal.show_report(load_report(path), Console(file=out, width=120))
    assert printed == out.getvalue()


@pytest.mark.usefixtures("_away")
def test_all_files_are_written_at_once(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["report", str(path), "--html", "a/b.html", "--markdown", "c.md", "--badge", "d"]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "a" / "b.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "c.md").read_text().startswith("## ❌ simulated")
    assert (tmp_path / "d" / "resume.svg").is_file()
    assert "a/b.html: " in out
    assert "5 badges in d" in out


@pytest.mark.usefixtures("_away")
@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda lines: lines.pop(0), [], "a report begins with its header"),
        (lambda lines: None, ["--html", "."], "--html . is a folder"),
        (lambda lines: None, ["--badge", "changed.jsonl"], "--badge changed.jsonl is a file"),
        (lambda lines: lines[1].pop("id"), [], "line 2: the case: 'id' is a required property"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_words(
    change: Callable[[list[dict[str, Any]]], None],
    options: list[str],
    words: str,
    path: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rewritten(path, tmp_path / "changed.jsonl", change)
    assert main(["report", "changed.jsonl", *options]) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert printed.out == ""
    assert not (tmp_path / "x.html").exists()


def test_the_command_that_goes_on_is_told_whole(path: Path, tmp_path: Path) -> None:
    def interrupt(lines: list[dict[str, Any]]) -> None:
        lines[0]["only"] = ["RESUME-1"]
        del lines[4:]

    cut = rewritten(path, tmp_path / "cut.jsonl", interrupt)
    with pytest.raises(ReportError) as raised:
        load_report(cut)
    command = f"midepoch check simulated --profile quick --only RESUME-1 --json {cut} --continue"
    assert raised.value.hint == f"`{command}` judges the rest"


@pytest.mark.usefixtures("_away", "warm_torch")
@pytest.mark.parametrize(
    ("loader", "kind", "only", "status", "verdict"),
    [
        ("reference", "map", "RESUME-1", 0, "1 of 1 requirement holds"),
        (f"{MUTANTS / 'skips_one_after_resume.py'}:Adapter", "map", "RESUME-1", 1, "1 of 1 req"),
    ],
    ids=["reference", "mutant"],
)
def test_the_report_of_a_real_run_becomes_a_page(
    loader: str,
    kind: str,
    only: str,
    status: int,
    verdict: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Cases without workers are enough: this test is about the page.
    table = [
        case
        for case in tables.load_table("quick")
        if only in judges.applicable(case)
        and case.workload.kind == kind
        and all(plan.execution.workers == 0 for plan in case.sessions)
    ][:2]
    monkeypatch.setattr(tables, "load_table", lambda profile: table)
    command = ["check", loader, "--only", only, "--json", "r.jsonl", "-q", "--jobs", "1"]
    assert main(command) == status
    assert main(["report", "r.jsonl", "--html", "r.html", "--markdown", "r.md"]) == 0
    read = Page((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert verdict in read.words
    comment = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert only in comment or status == 0
    if status:
        lines = (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()
        failure = json.loads(lines[-1])["failures"][0]
        assert read.of_class("missing")
        assert "(" in drawn_text(draw(failure["delivered"]))
        assert failure["script_text"].splitlines()[0] in read.words
        assert Path(failure["script"]).name in read.words
