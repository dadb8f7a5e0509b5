"""Render the requirements of the specification as blocks, and the ids of its rules (pure)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import field_failures

OPENING = re.compile(r'^- <a id="([A-Z]+-[1-9][0-9]*)"></a>\*\*\1\*\* · (?!retired in )')
"""Matches the start of a requirement's line; lines of retired ids stay unchanged."""

_RULE = re.compile(r'^<a id="([A-Z]+-[1-9][0-9]*)"></a>\*\*\1\.\*\* ', re.MULTILINE)

REFUSAL = {
    "passes": "a refusal passes",
    "refused": "a refusal counts as refused",
    "fails": "a refusal fails",
}


class Known(NamedTuple):
    """Sentences that other files say of requirements."""

    judges: Mapping[str, str]
    """The Markdown that names a requirement's judge."""
    broken: Mapping[str, str]
    """A loader's behaviour that breaks a requirement, in one sentence."""
    reports: Mapping[str, str]
    """The subject of a public report, in one sentence, by its label."""


def replace_requirements(page: str, index: Mapping[str, Mapping[str, Any]], known: Known) -> str:
    """Return the page with each requirement's line replaced by its block.

    ``index`` holds the requirements by id.

    Raises:
        LookupError: the page states a requirement that the index does not know.
    """
    lines = []
    for line in page.splitlines():
        match = OPENING.match(line)
        if match is None:
            lines.append(line)
            continue
        if match[1] not in index:
            raise LookupError(f"{match[1]} is not in requirements.json; write the index anew")
        lines += ["", block(index[match[1]], known), ""]
    return "\n".join(lines) + "\n"


def small_rule_ids(page: str) -> str:
    """Return the page with the id of each rule as a small link to the rule itself."""
    return _RULE.sub(r'<a class="rule-id" id="\1" href="#\1">\1</a> ', page)


def block(requirement: Mapping[str, Any], known: Known) -> str:
    """Return the requirement's block: labels, text, reason, example, reports and judge."""
    name = requirement["id"]
    judge = known.judges.get(name)
    labels = [
        f'<a class="req-id" href="#{name}">{name}</a>',
        _label(requirement["level"], "level"),
        _label(requirement["class"], "class"),
        _label(REFUSAL[requirement["refusal"]], f"refusal-{requirement['refusal']}"),
    ]
    rows = [("Why", requirement["why"])]
    if name in known.broken:
        rows.append(("Broken by", f"a loader that does this: {known.broken[name]}"))
    if requirement["field"]:
        rows.append(("Seen in", _reports(requirement["field"], known.reports)))
    if judge is not None:
        rows.append(("Judge", judge))
        rows.append(("Check it", f"`midepoch check LOADER --only {name}`"))
    elif requirement["unjudged"]:
        rows.append(("Not judged", requirement["unjudged"]))
    details = "\n\n".join(f'<span class="req-key">{key}</span> {text}' for key, text in rows)
    return (
        f'<div class="req" id="{name}" markdown="1">\n\n'
        f'<p class="req-head">{" ".join(labels)}</p>\n\n'
        f"{requirement['text']}\n{{ .req-text }}\n\n"
        f"{details}\n\n</div>"
    )


def _reports(labels: Iterable[str], reports: Mapping[str, str]) -> str:
    """Return links to reports, those about one failure together with its sentence."""
    together: dict[str, list[str]] = {}
    for label in labels:
        together.setdefault(reports.get(label, ""), []).append(field_failures.link(label))
    said = (
        f"{', '.join(links)}{f' ({words})' if words else ''}" for words, links in together.items()
    )
    return "; ".join(said)


def _label(text: str, kind: str) -> str:
    return f'<span class="req-label req-{html.escape(kind)}">{html.escape(text)}</span>'
