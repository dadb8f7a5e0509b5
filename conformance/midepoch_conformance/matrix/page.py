"""The matrix's page, its rows' own pages and its badges, made from the reports alone."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from jinja2 import PackageLoader

from midepoch_conformance.errors import CheckError
from midepoch_conformance.host.loading import source_of
from midepoch_conformance.matrix.cells import (
    MEANINGS,
    NOT_ASKED,
    Cell,
    cells_of,
    class_of,
    drawing,
    word,
)
from midepoch_conformance.matrix.documented import Limit, limits
from midepoch_conformance.matrix.rows import ROWS, Row
from midepoch_conformance.matrix.today import same_adapter, same_cases, same_version
from midepoch_conformance.report import overview
from midepoch_conformance.report.badge import write_badges
from midepoch_conformance.report.document import Document, Failure
from midepoch_conformance.report.file import load_report
from midepoch_conformance.report.lines import spec_version, suite_version
from midepoch_conformance.report.page import environment, facts, html_page, slug
from midepoch_conformance.report.wording import COSTS, cost_words, replay_words
from midepoch_conformance.text import counted
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.results import RESUMING

__all__ = ["Finding", "Judged", "matrix_page", "read_reports", "write_pages"]

_ASSETS = ("matrix.css", "matrix.js")


@dataclasses.dataclass(frozen=True)
class Finding:
    """A page about a failure of a loader."""

    title: str
    address: str
    """The page's address, from the matrix's page."""
    rows: Sequence[str]
    """The rows whose loader fails so."""
    requirements: Sequence[str]
    """The requirements that it breaks."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """A row that has a report."""

    name: str
    """The row's name, which the report's file has."""
    anchor: str
    """The row's anchor in the page; it stays the same when the loader has a new version."""
    file: str
    """The report's file."""
    document: Document
    cells: dict[str, Cell]
    limits: tuple[Limit, ...] = ()
    """What the loader's documentation promises less than the requirements ask."""
    findings: tuple[Finding, ...] = ()
    """The failures of the loader that have a page of their own."""

    @property
    def title(self) -> str:
        """The row's name and the loader's version."""
        return f"{self.name} {self.document.header.loader.version}".strip()

    @property
    def verdict(self) -> str:
        """The verdict on the loader in a sentence."""
        return overview.verdict(self.document)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The loader, its adapter, the run and how long it took."""
        header = self.document.header
        suite = f"{header.suite}, specification {header.spec}"
        own = [("Adapter", header.loader.spec), *facts(self.document)]
        return [*own, ("Suite", suite), ("Report", self.file)]

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks that a reader must not miss."""
        header, found = self.document.header, []
        if not same_version(header):
            found.append(f"judged by suite {header.suite}, specification {header.spec}")
        elif not same_cases(self.document):
            found.append("judged by the cases of an earlier table")
        if not same_adapter(header):
            found.append("played through an earlier version of its adapter")
        if header.only:
            found.append(f"only {counted(len(header.only), 'requirement')} asked")
        if RESUMING in self.document.footer.unjudged:
            found.append("nothing about resuming could be judged")
        return tuple(found)

    @property
    def aged(self) -> bool:
        """Whether the suite, its cases, the adapter or the specification were other ones."""
        header = self.document.header
        now = same_version(header) and same_cases(self.document) and same_adapter(header)
        return not now

    @property
    def adapter(self) -> str | None:
        """The source of the loader's adapter; None if it is not one of the suite's."""
        return source_of(self.document.header.loader.spec)

    @property
    def badge(self) -> str:
        """The badge's file, from the matrix's page."""
        return f"badges/{self.anchor}/midepoch.svg"

    def cell(self, name: str) -> Cell:
        """Return the cell of a class."""
        return self.cells.get(name, Cell(name))

    def documented(self, name: str) -> list[Limit]:
        """Return what the loader's documentation says on requirements of a class."""
        return [limit for limit in self.limits if name in map(class_of, limit.requirements)]

    def found(self, name: str) -> list[Finding]:
        """Return the findings behind the failures of a class."""
        return [one for one in self.findings if self._failing(name) & set(one.requirements)]

    def excused(self, name: str) -> bool:
        """Return whether the loader's documentation promises less than what fails in a class."""
        return any(self._failing(name) & set(limit.requirements) for limit in self.limits)

    def _failing(self, name: str) -> set[str]:
        return {failure.requirement for _, failure in self.cell(name).failures}

    def replay(self, failure: Failure) -> str:
        """Return the command that plays a failure's case again, in the row's environment."""
        words = replay_words(self.document.header, failure, self.file)
        row = next((row for row in ROWS if row.name == self.name), None)
        return words if row is None else f"{words} --python {row.python}"


def read_reports(folder: Path, findings: Sequence[Finding] = ()) -> list[Judged]:
    """Return the rows of the reports in ``folder``, those whose users suffer most first.

    Args:
        folder: the folder of the reports.
        findings: the pages about failures, to which rows lead.

    Raises:
        CheckError: the folder has no report, or one that cannot be read.
    """
    if not folder.is_dir():
        raise CheckError(
            f"{folder}: there is no such folder", "name the folder of the matrix's reports"
        )
    found = [(path, load_report(path)) for path in sorted(folder.glob("*.jsonl"))]
    if not found:
        raise CheckError(f"{folder} has no report", "`midepoch matrix` writes them")
    # The anchor of a row is that of its latest report.
    found.sort(key=lambda one: (one[1].header.started, one[0]), reverse=True)
    rows: dict[str, Judged] = {}
    for path, document in found:
        name = _row_of(path.stem, document.header.loader.version)
        anchor = slug(name) if slug(name) not in rows else slug(path.stem)
        if anchor in rows:
            raise CheckError(
                f"{path}: {rows[anchor].file} would have the same place in the page",
                "keep one of the two",
            )
        known = tuple(limit for limit in limits() if name in limit.rows)
        pages = tuple(one for one in findings if name in one.rows)
        cells = cells_of(document)
        rows[anchor] = Judged(name, anchor, path.name, document, cells, known, pages)
    return sorted(rows.values(), key=_suffering)


def _row_of(stem: str, version: str) -> str:
    """Return the name of the row whose report has this file name."""
    known = [row.name for row in ROWS if stem.startswith(f"{row.name}-")]
    return max(known, key=len, default=stem.removesuffix(f"-{version or '0'}"))


def matrix_page(rows: Sequence[Judged], known: Sequence[Row] = ROWS, *, address: str = "") -> str:
    """Return the page as Markdown, for a site made with Material for MkDocs.

    Args:
        rows: the rows that have a report, in their order.
        known: the rows of the matrix; those that have no report are listed.
        address: where the page is published, for badges on other pages.
    """
    names = {row.name for row in rows}
    text = (
        environment()
        .overlay(loader=PackageLoader("midepoch_conformance.matrix"))
        .get_template("matrix.md")
        .render(
            rows=rows,
            address=address,
            classes=list(_classes(rows)),
            missing=[row.name for row in known if row.name not in names],
            aged=[row for row in rows if row.aged],
            suite=suite_version(),
            spec=spec_version(),
            meanings=MEANINGS,
            not_asked=NOT_ASKED,
            word=word,
            drawing=drawing,
            costs=COSTS,
            cost_words=cost_words,
            texts={one.id: one.text for one in requirements.load().values()},
        )
    )
    # Markdown looks for fenced blocks inside of HTML, too: a loader's text must not open one.
    return text.replace("`", "&#96;").replace("~", "&#126;")


def write_pages(
    folder: Path, out: Path, findings: Sequence[Finding] = (), *, address: str = ""
) -> list[Judged]:
    """Write the page, a page for each report, the adapters and the badges into ``out``.

    Return the rows.

    Args:
        folder: the folder of the reports.
        out: the folder of the pages.
        findings: the pages about failures, to which rows lead.
        address: where the page is published, for badges on other pages.

    Raises:
        CheckError: a report cannot be read; then nothing is written.
    """
    rows = read_reports(folder, findings)
    if out.exists() and not out.is_dir():
        raise CheckError(f"--out {out} is a file", "name a folder")
    page, wholes = (
        matrix_page(rows, address=address),
        {row.anchor: html_page(row.document) for row in rows},
    )
    for part in ("reports", "adapters"):
        (out / part).mkdir(parents=True, exist_ok=True)
    (out / "index.md").write_text(page, encoding="utf-8")
    for name in _ASSETS:
        file = resources.files("midepoch_conformance.matrix") / "templates" / name
        (out / name).write_text(file.read_text("utf-8"), encoding="utf-8")
    for row in rows:
        (out / "reports" / f"{row.anchor}.html").write_text(wholes[row.anchor], encoding="utf-8")
        write_badges(row.document, out / "badges" / row.anchor)
        if row.adapter is not None:
            (out / "adapters" / f"{row.anchor}.py.txt").write_text(row.adapter, encoding="utf-8")
    return rows


def _classes(rows: Sequence[Judged]) -> Iterator[tuple[str, str]]:
    """Yield the classes that any report asks about, with their titles, in the usual order."""
    asked = dict.fromkeys(name for row in rows for name in row.cells)
    titles = {one.name: one.title for one in requirements.classes()}
    for name in (*titles, *(name for name in asked if name not in titles)):
        if name in asked:
            yield name, titles.get(name, "")


def _suffering(row: Judged) -> tuple[object, ...]:
    words = Counter(cell.word for cell in row.cells.values())
    return (*(-words[one] for one in MEANINGS if one != "exact"), row.name, row.file)
