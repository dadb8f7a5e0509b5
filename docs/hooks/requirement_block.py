"""Render one requirement of the specification as a block of Markdown (pure)."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

import field_failures

OPENING = re.compile(r'^- <a id="([A-Z]+-[1-9][0-9]*)"></a>\*\*\1\*\* · (?!retired in )')
"""Matches the start of a requirement's line; lines of retired ids stay unchanged."""

REFUSAL = {
    "passes": "a refusal passes",
    "refused": "a refusal counts as refused",
    "fails": "a refusal fails",
}


def replace_requirements(
    page: str, index: Mapping[str, Mapping[str, Any]], judges: Mapping[str, str]
) -> str:
    """Return the page with each requirement's line replaced by its block.

    ``index`` holds the requirements by id, ``judges`` the Markdown that names an id's judge.

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
        lines += ["", block(index[match[1]], judges.get(match[1])), ""]
    return "\n".join(lines) + "\n"


def block(requirement: Mapping[str, Any], judge: str | None) -> str:
    """Return the requirement's block: labels, text, why, field failures and judge."""
    name = requirement["id"]
    labels = [
        f'<a class="req-id" href="#{name}">{name}</a>',
        _label(requirement["level"], "level"),
        _label(requirement["class"], "class"),
        _label(REFUSAL[requirement["refusal"]], f"refusal-{requirement['refusal']}"),
    ]
    rows = [("Why", requirement["why"])]
    if requirement["field"]:
        rows.append(("Seen in", ", ".join(map(field_failures.link, requirement["field"]))))
    if judge is not None:
        rows.append(("Judge", judge))
    elif requirement["unjudged"]:
        rows.append(("Not judged", requirement["unjudged"]))
    details = "\n\n".join(f'<span class="req-key">{key}</span> {text}' for key, text in rows)
    return (
        f'<div class="req" id="{name}" markdown="1">\n\n'
        f'<p class="req-head">{" ".join(labels)}</p>\n\n'
        f"{requirement['text']}\n{{ .req-text }}\n\n"
        f"{details}\n\n</div>"
    )


def _label(text: str, kind: str) -> str:
    return f'<span class="req-label req-{html.escape(kind)}">{html.escape(text)}</span>'
