"""A report in GitHub's Markdown, short enough for a comment on a pull request.

Texts that a loader chose stand in code spans or are escaped: they format nothing, mention
nobody and refer to no issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from midepoch_conformance.report.badge import class_words
from midepoch_conformance.report.drawing_text import drawn_text
from midepoch_conformance.report.overview import FailureView, KnownView, Overview
from midepoch_conformance.report.wording import count_words
from midepoch_conformance.text import clipped, printable
from midepoch_conformance.verdict.requirements import load

__all__ = ["block", "code", "markdown", "plain", "table"]

_MOST = 60_000
"""A comment may have 65,536 characters."""

_SIGNS = {
    "pass": "✅",
    "refused": "↩️",
    "not offered": "➖",
    "blocked": "🚫",
    "fails silently": "❌",
    "fails": "❌",
    "unstable": "❌",
    "error": "⚠️",
}
_SHOWN = 600
_REASONS = 5


def markdown(page: Overview) -> str:
    """Return the page as Markdown."""
    sign = {0: "✅", 1: "❌"}.get(page.status, "⚠️")
    header = page.header
    head = [
        f"## {sign} {plain(page.name)}: {plain(page.verdict)}",
        "",
        f"{count_words(len(page.cases), 'case')} of the profile {plain(header['profile'])}, judged "
        f"by midepoch {plain(header['suite'])} against specification {plain(header['spec'])}.",
        "",
        *_classes(page),
        "",
    ]
    tail = [*_known(page.known), *_reasons(page), *_foot(page)]
    room = _MOST - sum(len(line) + 1 for line in (*head, *tail))
    return "\n".join([*head, *_failures(page.failures, room), *tail]).rstrip() + "\n"


def plain(text: str) -> str:
    r"""Return ``text`` as text that formats nothing, on one line.

    Example:
        >>> plain("a|b *c* @d #1")
        'a\\|b \\*c\\* @<!-- -->d #<!-- -->1'
    """
    text = printable(text, lines=False).replace("&", "&amp;")
    text = re.sub(r"([\\`*_{}\[\]<>|~])", r"\\\1", text)
    # A comment parts what would be a mention, a reference or a link: those are looked for in
    # the text that is shown, where a backslash or an entity is gone.
    return re.sub(r"[@#]|(?<=http):|(?<=https):|(?<=www)\.", r"\g<0><!-- -->", text)


def code(text: str, cell: bool = False) -> str:
    """Return ``text`` as a code span, on one line; ``cell``: inside a table.

    Example:
        >>> code("a|b"), code("`x`")
        ('`a|b`', '`` `x` ``')
    """
    text = printable(text, lines=False)
    if not text:
        return ""
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    span = f"{ticks}{space}{text}{space}{ticks}"
    return span.replace("|", "\\|") if cell else span


def block(text: str) -> list[str]:
    """Return ``text`` as a fenced block."""
    ticks = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return [f"{ticks}text", *printable(text).splitlines(), ticks]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table; its cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def _classes(page: Overview) -> list[str]:
    rows = []
    known = {one.requirement for one in page.known if one.holds}
    for entry in page.classes:
        failing = [one.id for one in entry.requirements if one.failures]
        ids = [one.id for one in entry.requirements]
        failing += [f"{name} (known)" for name in ids if name in known and name not in failing]
        rows.append(
            [
                plain(entry.name),
                f"{_SIGNS[entry.outcome]} {class_words(entry)}",
                plain(entry.words),
                ", ".join(failing),
            ]
        )
    return table(["Class", "Verdict", "Coverage", "Failing requirements"], rows)


def _failures(failures: Sequence[FailureView], room: int) -> list[str]:
    if not failures:
        return []
    lines = [f"### {count_words(len(failures), 'failure')}", ""]
    for number, failure in enumerate(failures):
        lines_of_one = _failure(failure)
        room -= sum(len(line) + 1 for line in lines_of_one)
        if room < 0:
            rest = [f"{f.requirement} {f.way}" for f in failures[number:]]
            return [*lines, plain(f"And {len(rest)} more: {clipped('; '.join(rest), 2000)}."), ""]
        lines += lines_of_one
    return lines


def _failure(one: FailureView) -> list[str]:
    kinds = ", ".join(one.kinds).replace("_", " ")
    feature = f" ({one.feature})" if one.feature else ""
    lines = [
        f"**{one.number}. {plain(one.requirement)} {plain(one.way)}** on {plain(kinds + feature)} "
        f"data, {count_words(one.cases, 'case')}",
        "",
    ]
    requirement = load().get(one.requirement)
    if requirement is not None:
        lines += [f"> {requirement.text}", ""]
    lines.append(f"- case: {plain(one.case_words)}")
    facts = (("shown", one.words), ("expected", one.expected), ("got", one.got))
    lines += [f"- {name}: {code(clipped(value, _SHOWN))}" for name, value in facts if value]
    if one.script:
        lines.append(f"- script: {code(one.script)}")
    if one.note:
        lines.append(f"- note: {plain(one.note)}")
    if one.drawing.tells:
        lines += ["", *block(drawn_text(one.drawing))]
    return [*lines, ""]


def _known(known: Sequence[KnownView]) -> list[str]:
    if not known:
        return []
    lines = [f"### {count_words(len(known), 'known failure')}", ""]
    rows = []
    for one in known:
        now = f"no longer fails ({one.outcome}): delete the entry" if one.gone else one.way
        link = (
            f"<{one.link}>"
            if re.fullmatch(r"https?://[^\s<>|]+", one.link)
            else code(one.link, cell=True)
        )
        rows.append([plain(one.requirement), plain(now), str(one.cases), plain(one.reason), link])
    return [*lines, *table(["Requirement", "Now", "Cases", "Reason", "Link"], rows), ""]


def _reasons(page: Overview) -> list[str]:
    if not page.reasons:
        return []
    lines = ["<details><summary>Refused, blocked and not offered</summary>", ""]
    for outcome, reasons in page.reasons.items():
        lines += [f"**{outcome}**", ""]
        lines += [
            f"- {count_words(one.cases, 'case')}: {code(clipped(one.words, _SHOWN))}"
            for one in reasons[:_REASONS]
        ]
        if len(reasons) > _REASONS:
            lines.append(f"- and {len(reasons) - _REASONS} other reasons")
        lines.append("")
    return [*lines, "</details>", ""]


def _foot(page: Overview) -> list[str]:
    return ["To see it yourself:", "", "```console", f"$ {printable(page.command, False)}", "```"]
