"""A report as one HTML page: it works from disk, without a network, and without its script.

Whatever a loader wrote into the report is escaped by the template engine; beyond that the page's
own policy lets no script run but the one that is written here.
"""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from midepoch_conformance.report.overview import CaseView, ClassView, Overview
from midepoch_conformance.report.timeline import Drawing
from midepoch_conformance.report.wording import count_words
from midepoch_conformance.text import clipped, printable
from midepoch_conformance.verdict.finding import OUTCOMES
from midepoch_conformance.verdict.requirements import load

__all__ = ["environment", "html_page", "slug"]

LOOKS = {
    "right": "as in the uninterrupted run",
    "missing": "missing",
    "repeated": "delivered before",
    "wrong": "another batch was due",
    "unknown": "nothing to compare with",
}
"""What a box of a drawing says."""

_REASONS = {
    "error": "The suite, the environment or the adapter is at fault, not the loader.",
    "refused": "A proper error instead of a resume: neither a pass nor a failure.",
    "blocked": "What they depend on has failed already, so a verdict would say nothing.",
    "not offered": "The loader does not claim to do it.",
}


def html_page(page: Overview) -> str:
    """Return the page."""
    style, script = _own("report.css"), _own("report.js")
    requirements = page.requirements
    return (
        environment()
        .get_template("report.html")
        .render(
            page=page,
            style=Markup(style),
            style_hash=_hash(style),
            script=Markup(script),
            script_hash=_hash(script),
            tone={0: "good", 1: "bad"}.get(page.status, "doubt"),
            lead=_lead(page),
            facts=_facts(page),
            outcomes=OUTCOMES,
            found_outcomes=_found_outcomes(page),
            case_ids={one.id for one in page.cases},
            held={one.requirement for one in page.known if one.holds},
            known_ids={one.id for one in requirements},
            texts={one.id: one.text for one in load().values()},
            looks=LOOKS,
            reason_notes=_REASONS,
        )
    )


@functools.lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the template engine; it escapes all that is not marked as its own."""
    made = Environment(
        loader=PackageLoader("midepoch_conformance.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    made.filters |= {
        "basename": lambda path: PurePosixPath(path).name,
        "clip": clipped,
        "counted": count_words,
        "found_tokens": _found_tokens,
        "is_address": lambda link: bool(re.match(r"https?://", link)),
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


def _lead(page: Overview) -> str:
    header = page.header
    by = f"midepoch {header['suite']} against specification {header['spec']}"
    cases = count_words(len(page.cases), "case")
    return f"{cases} of the profile {header['profile']}, judged by {by}, {_day(header['started'])}."


def _day(started: str) -> str:
    try:
        when = datetime.datetime.fromisoformat(started)
    except ValueError:
        return started
    return f"{when.day} {when:%B %Y}"


def _facts(page: Overview) -> list[tuple[str, str]]:
    header, loader = page.header, page.header["loader"]
    packages = ", ".join(f"{name} {version}" for name, version in sorted(_packages(loader)))
    facts = [
        ("Loader", page.name),
        ("Packages", packages),
        ("Python", loader["python"]),
        ("Platform", loader["platform"]),
        ("Profile", header["profile"]),
        ("Asked for", ", ".join(header["only"] or ())),
        ("Started", header["started"].replace("T", " ").replace("+00:00", " UTC")),
        ("Took", f"{page.seconds:,.0f} s"),
    ]
    return [(name, value) for name, value in facts if value]


def _packages(loader: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(name, version) for name, version in loader["packages"].items() if version]


def _found_outcomes(page: Overview) -> list[str]:
    found = {cell.outcome for one in page.requirements for cell in one.cells}
    found |= {outcome for case in page.cases for outcome, _ in case.found}
    return [outcome for outcome in OUTCOMES if outcome in found]


def _found_tokens(case: CaseView) -> str:
    known = load()
    tokens = {
        f"{known[name].cls if name in known else ''}/{slug(outcome)}"
        for outcome, names in case.found
        for name in names
    }
    return " ".join(sorted(tokens))


def _looks_of(drawing: Drawing) -> list[str]:
    found = {cell.look for grid in drawing.grids for row in grid.rows for cell in row.cells}
    return [look for look in LOOKS if look in found]


def _parts(entry: ClassView) -> Iterator[dict[str, object]]:
    """Yield the parts of a class's bar, of 1000 units in all."""
    total = sum(entry.counts.values()) or 1
    at = 0
    for outcome in ("pass", *(name for name in OUTCOMES if name != "pass")):
        count = entry.counts.get(outcome, 0)
        if count:
            start, at = at, at + count
            first, last = 1000 * start // total, 1000 * at // total
            yield {"outcome": outcome, "x": first, "width": max(last - first, 4)}
