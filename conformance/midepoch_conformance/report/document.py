"""A report as one document: a header, a line a case and a footer; as data and as JSON (pure).

The fields of each part have the names and the order of the report's JSON Lines, so that the
schema (``report-2.schema.json``) describes them. The terminal, the page, the comment, the badges
and the diff read a document and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from midepoch_conformance.case.adapter import STAND_IN
from midepoch_conformance.verdict.finding import OUTCOMES
from midepoch_conformance.verdict.results import BREAKING, changed_words

__all__ = [
    "Case",
    "Class",
    "Document",
    "Failure",
    "Finding",
    "Footer",
    "Header",
    "Known",
    "Loader",
    "Measured",
    "Row",
]

P = TypeVar("P", bound="_Part")


@dataclasses.dataclass(frozen=True)
class _Part:
    """A part of a document; in its JSON, a field that has its default is left out."""

    _PARTS: ClassVar[Mapping[str, type[_Part]]] = {}
    """The type of each field that holds a part, or parts."""

    def to_json(self) -> dict[str, Any]:
        """Return the part as JSON types."""
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        members = {name: getattr(self, name) for name in fields}
        return {name: _json(value) for name, value in members.items() if value != fields[name]}

    @classmethod
    def from_json(cls: type[P], data: Mapping[str, Any]) -> P:
        """Return the part that ``data`` describes; unknown keys are left out."""
        names = [field.name for field in dataclasses.fields(cls) if field.name in data]
        return cls(**{name: _read(cls._PARTS.get(name), data[name]) for name in names})


def _json(value: Any) -> Any:
    if isinstance(value, _Part):
        return value.to_json()
    return [_json(one) for one in value] if isinstance(value, (list, tuple)) else value


def _read(part: type[_Part] | None, value: Any) -> Any:
    if part is None:
        return value
    return tuple(map(part.from_json, value)) if isinstance(value, list) else part.from_json(value)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Loader(_Part):
    """The loader that was judged."""

    spec: str
    function: bool
    name: str
    version: str
    python: str
    platform: str
    packages: Mapping[str, str]
    reasons: Mapping[str, str]
    digest: str = ""

    @property
    def title(self) -> str:
        """The loader's name and version, and the packages that it did not really have."""
        stood = [name for name, version in self.packages.items() if version == STAND_IN]
        beside = f" (with a stand-in for {', '.join(stood)})" if stood else ""
        return f"{self.name} {self.version}".strip() + beside


@dataclasses.dataclass(frozen=True, kw_only=True)
class Header(_Part):
    """The loader, the suite and the table of cases of a run."""

    _PARTS: ClassVar = {"loader": Loader}

    format: int
    suite: str
    spec: str
    profile: str
    only: Sequence[str] | None
    loader: Loader
    table: str | None
    cases: int | None
    started: str
    offered: int | None = None
    drawn: Mapping[str, Any] | None = None
    seed: int | None = None
    options: Sequence[str] = ()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Finding(_Part):
    """A judge's finding on a case; one that passes is its outcome alone."""

    requirement: str
    outcome: str
    kind: str = ""
    words: str = ""
    expected: Any = None
    got: Any = None
    needs: Sequence[str] = ()

    @property
    def fails(self) -> bool:
        """Whether the finding breaks a claim."""
        return self.outcome in BREAKING

    @property
    def way(self) -> str:
        """The outcome and the way of failing, such as ``fails silently (missing)``."""
        return f"{self.outcome} ({self.kind})" if self.kind else self.outcome


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case(_Part):
    """A case with its findings; those that are *blocked* say so."""

    _PARTS: ClassVar = {"findings": Finding, "others": Finding}

    index: int
    id: str
    case: Mapping[str, Any]
    words: str
    not_offered: str | None
    findings: tuple[Finding, ...]
    others: tuple[Finding, ...] = ()
    seconds: float

    @property
    def kind(self) -> str:
        """The kind of workload."""
        return str(self.case["workload"].get("kind", "map"))

    @property
    def has_workers(self) -> bool:
        """Whether any of its sessions has workers."""
        return any(session["execution"].get("workers") for session in self.case["sessions"])

    @property
    def loads(self) -> bool:
        """Whether a saved state is loaded in any of its sessions."""
        return any(step["do"] == "load" for plan in self.case["sessions"] for step in plan["steps"])

    @property
    def found(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Its requirements by outcome, in the order of :data:`OUTCOMES`."""
        by = {
            name: tuple(f.requirement for f in self.findings if f.outcome == name)
            for name in OUTCOMES
        }
        return tuple((name, ids) for name, ids in by.items() if ids)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Class(_Part):
    """A class of requirements and its coverage in words."""

    name: str
    requirements: Sequence[str]
    words: str
    counts: Mapping[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Row(_Part):
    """The verdict on a requirement for one kind of workload."""

    requirement: str
    kind: str
    outcome: str
    counts: Mapping[str, int]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Failure(Finding):
    """A failure with its smallest case, and with the script that shows it."""

    workload_kinds: Sequence[str]
    feature: str
    id: str
    case: Mapping[str, Any]
    case_words: str
    cases: int
    shrunk: int
    delivered: Mapping[str, Any] | None
    script: str | None
    script_text: str | None
    script_note: str
    worst: str = ""
    also: Sequence[str] = ()
    stacks: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Known(Finding):
    """A known failure, with the finding on its case now."""

    link: str
    reason: str
    where: str
    holds: bool
    id: str
    case: Mapping[str, Any]
    cases: int
    workload_kinds: Sequence[str]

    @property
    def gone(self) -> bool:
        """Whether the entry breaks the run: its case could be judged and no longer fails."""
        return not self.holds and self.outcome != "error"

    @property
    def changed(self) -> str:
        """Why the entry does not hold, in a sentence."""
        return changed_words(self.where, self.requirement, self.link, self.outcome, self.words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Measured(_Part):
    """What a plain epoch's states, and resumes from them, cost."""

    kind: str
    workers: int
    codec: str
    early: int | None = None
    late: int | None = None
    refetched: int | None = None
    first: float | None = None
    fresh: float | None = None
    trouble: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Footer(_Part):
    """The verdicts of a run that was not interrupted."""

    _PARTS: ClassVar = {
        "classes": Class,
        "requirements": Row,
        "failures": Failure,
        "known": Known,
        "measured": Measured,
    }

    status: int
    cases: int
    classes: tuple[Class, ...]
    requirements: tuple[Row, ...]
    blocked: Sequence[Sequence[Any]]
    failures: tuple[Failure, ...]
    known: tuple[Known, ...]
    seconds: float
    unjudged: Sequence[str] = ()
    measured: Measured | None = None


@dataclasses.dataclass(frozen=True)
class Document:
    """A report."""

    header: Header
    cases: tuple[Case, ...]
    footer: Footer
    stopped: bool = False
    """Whether the run was stopped: the footer then says what its cases show."""

    @classmethod
    def from_json(
        cls,
        header: Mapping[str, Any],
        cases: Sequence[Mapping[str, Any]],
        footer: Mapping[str, Any],
    ) -> Document:
        """Return the document of a report's lines, which the schema has accepted.

        A line has its findings as they were judged; the footer says which of them are *blocked*.
        """
        blocked = {(index, name): words for index, name, words in footer["blocked"]}

        def case(line: Mapping[str, Any]) -> Case:
            read = Case.from_json(line)
            findings = tuple(
                dataclasses.replace(found, outcome="blocked", words=words)
                if (words := blocked.get((read.index, found.requirement))) is not None
                else found
                for found in read.findings
            )
            return dataclasses.replace(read, findings=findings)

        return cls(Header.from_json(header), tuple(map(case, cases)), Footer.from_json(footer))
