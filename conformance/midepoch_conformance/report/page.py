"""A report as one HTML page: it works from disk, without a network, and without its script.

The template engine escapes every text of the loader. In addition, the page's own policy lets only
the script run that is written here.
"""

from __future__ import annotations

import base64
import collections
import datetime
import functools
import hashlib
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import PurePosixPath

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from midepoch_conformance.report import overview
from midepoch_conformance.report.document import Case, Document
from midepoch_conformance.report.overview import ClassView
from midepoch_conformance.report.timeline import Drawing, draw
from midepoch_conformance.report.wording import (
    batches_words,
    cell_words,
    command_words,
    cost_words,
    judged_words,
    kinds_words,
)
from midepoch_conformance.text import clipped, counted, printable
from midepoch_conformance.verdict.finding import OUTCOMES
from midepoch_conformance.verdict.requirements import load

__all__ = ["environment", "facts", "html_page", "slug"]

LOOKS = {
    "right": "as in the uninterrupted run",
    "missing": "missing",
    "repeated": "delivered before",
    "wrong": "another batch was due",
    "unknown": "nothing to compare with",
}
"""The meaning of each box of a drawing."""

_REASONS = {
    "error": "The suite, the environment or the adapter is at fault, not the loader.",
    "refused": "A proper error instead of a resume: neither a pass nor a failure.",
    "blocked": "A requirement that they depend on failed, so a verdict would say nothing new.",
    "not offered": "The loader does not claim to do it.",
    overview.COMPANY: "It fails only while other cases run, and passes alone: it passes.",
}


def html_page(document: Document) -> str:
    """Return the page."""
    style, script = _own("report.css"), _own("report.js")
    footer = document.footer
    classes = overview.class_views(document)
    requirements = [one for view in classes for one in view.requirements]
    return (
        environment()
        .get_template("report.html")
        .render(
            header=document.header,
            footer=footer,
            cases=document.cases,
            classes=classes,
            title=document.header.loader.title,
            verdict=overview.verdict(document),
            advice=overview.advice(document),
            left_out=overview.left_out(document),
            reasons=overview.reasons(document),
            command=command_words(document.header),
            counts=collections.Counter(one.outcome for one in requirements),
            style=Markup(style),
            style_hash=_hash(style),
            script=Markup(script),
            script_hash=_hash(script),
            tone={0: "good", 1: "bad"}.get(footer.status, "doubt"),
            lead=f"{judged_words(document)}, {_day(document.header.started)}.",
            facts=facts(document),
            outcomes=OUTCOMES,
            found_outcomes=_found_outcomes(document),
            case_ids={one.id for one in document.cases},
            held={one.requirement for one in footer.known if one.holds},
            known_ids={one.id for view in classes for one in view.offered},
            texts={one.id: one.text for one in load().values()},
            looks=LOOKS,
            reason_notes=_REASONS,
        )
    )


@functools.lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template engine; it escapes every text that is not marked as its own."""
    made = Environment(
        loader=PackageLoader("midepoch_conformance.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    made.filters |= {
        "basename": lambda path: PurePosixPath(path).name,
        "batches": batches_words,
        "cell_words": lambda row: cell_words(row.outcome, row.counts),
        "class_of": _class_of,
        "clip": clipped,
        "counted": counted,
        "drawn": draw,
        "found_tokens": _found_tokens,
        "is_address": lambda link: bool(re.match(r"https?://", link)),
        "kinds_words": kinds_words,
        "looks_of": _looks_of,
        "parts": _parts,
        "prose": _prose,
        "slug": slug,
    }
    return made


def slug(text: str) -> str:
    """Return a text as a word of a class attribute.

    Example:
        >>> slug("fails silently")
        'fails-silently'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _shown(value: object) -> object:
    # Markup is the templates' own text; every other text may be a loader's.
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value


def _prose(text: str) -> Markup:
    """Return a sentence of the specification with its code set as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _own(name: str) -> str:
    file = resources.files("midepoch_conformance.report") / "templates" / name
    return file.read_text("utf-8")


def _hash(text: str) -> Markup:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(f"sha256-{digest}")


def _day(started: str) -> str:
    try:
        when = datetime.datetime.fromisoformat(started)
    except ValueError:
        return started
    return f"{when.day} {when:%B %Y}"


def facts(document: Document) -> list[tuple[str, str]]:
    """Return the facts of a run by name: the loader, its environment, and how long it took."""
    header, loader = document.header, document.header.loader
    packages = ((name, version) for name, version in loader.packages.items() if version)
    facts = [
        ("Loader", loader.title),
        ("Packages", ", ".join(f"{name} {version}" for name, version in sorted(packages))),
        ("Python", loader.python),
        ("Platform", loader.platform),
        ("Profile", header.profile),
        ("Asked for", ", ".join(header.only or ())),
        ("Started", header.started.replace("T", " ").replace("+00:00", " UTC")),
        ("Took", f"{document.footer.seconds:,.0f} s"),
    ]
    if (measured := document.footer.measured) is not None:
        facts += cost_words(measured).items()
        facts.append(("Not measured", clipped(measured.trouble, 300)))
    return [(name, value) for name, value in facts if value]


def _found_outcomes(document: Document) -> list[str]:
    found = {row.outcome for row in document.footer.requirements}
    found |= {finding.outcome for case in document.cases for finding in case.findings}
    return [outcome for outcome in OUTCOMES if outcome in found]


def _class_of(requirement: str) -> str:
    known = load().get(requirement)
    return known.cls if known else ""


def _found_tokens(case: Case) -> str:
    tokens = {f"{_class_of(one.requirement)}/{slug(one.outcome)}" for one in case.findings}
    return " ".join(sorted(tokens))


def _looks_of(drawing: Drawing) -> list[str]:
    found = {cell.look for grid in drawing.grids for row in grid.rows for cell in row.cells}
    return [look for look in LOOKS if look in found]


def _parts(view: ClassView) -> Iterator[dict[str, object]]:
    """Yield the parts of a class's bar, of 1000 units in all, for the cases that were played."""
    played = [name for name in OUTCOMES if name not in ("pass", "not offered")]
    total = sum(view.entry.counts.get(name, 0) for name in ("pass", *played)) or 1
    at = 0
    for outcome in ("pass", *played):
        count = view.entry.counts.get(outcome, 0)
        if count:
            start, at = at, at + count
            first, last = 1000 * start // total, 1000 * at // total
            yield {"outcome": outcome, "x": first, "width": max(last - first, 4)}
