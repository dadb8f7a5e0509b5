"""A report in GitHub's Markdown, short enough for a comment on a pull request.

Texts of a loader stand in code spans or are escaped: they format nothing, mention nobody and
refer to no issue.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from midepoch_conformance.report import overview
from midepoch_conformance.report.badge import class_words
from midepoch_conformance.report.document import Document, Failure, Known
from midepoch_conformance.report.drawn_text import drawn_text
from midepoch_conformance.report.timeline import draw
from midepoch_conformance.report.wording import (
    batches_words,
    command_words,
    judged_words,
    kinds_words,
    not_offered_words,
)
from midepoch_conformance.text import clipped, counted, printable
from midepoch_conformance.verdict.requirements import load

__all__ = ["block", "code", "markdown", "plain", "table"]

_MOST = 60_000
"""The most characters; GitHub allows 65,536 in a comment."""

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


def markdown(document: Document) -> str:
    """Return the report as Markdown."""
    footer = document.footer
    sign = {0: "✅", 1: "❌"}.get(footer.status, "⚠️")
    title, verdict = document.header.loader.title, overview.verdict(document)
    head = [
        f"## {sign} {plain(title)}: {plain(verdict)}",
        "",
        f"{plain(judged_words(document))}.",
        "",
        *_advice(document),
    ]
    tail = [
        *_known(footer.known),
        *_classes(document),
        "",
        *_reasons(document),
        *_foot(document),
    ]
    room = _MOST - sum(len(line) + 1 for line in (*head, *tail))
    return "\n".join([*head, *_failures(footer.failures, room), *tail]).rstrip() + "\n"


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


def _advice(document: Document) -> list[str]:
    lines = [f"- **{title}**: {plain(words)}" for title, words in overview.advice(document)]
    return [*lines, ""] if lines else []


def _classes(document: Document) -> list[str]:
    rows = []
    known = {one.requirement for one in document.footer.known if one.holds}
    for view in overview.class_views(document):
        if not view.offered:
            continue
        failing = [one.id for one in view.requirements if one.failures]
        ids = [one.id for one in view.requirements]
        failing += [f"{name} (known)" for name in ids if name in known and name not in failing]
        rows.append(
            [
                plain(view.entry.name),
                f"{_SIGNS[view.outcome]} {class_words(view)}",
                plain(view.entry.words),
                ", ".join(failing),
            ]
        )
    folded = overview.left_out(document)
    if folded:
        words = plain(not_offered_words(document.header.loader))
        rows.append([plain(", ".join(folded)), f"{_SIGNS['not offered']} {words}", "", ""])
    return table(["Class", "Verdict", "Coverage", "Failing requirements"], rows)


def _failures(failures: Sequence[Failure], room: int) -> list[str]:
    if not failures:
        return []
    lines = [f"### {counted(len(failures), 'failure')}", ""]
    for number, failure in enumerate(failures, start=1):
        lines_of_one = _failure(number, failure)
        room -= sum(len(line) + 1 for line in lines_of_one)
        if room < 0:
            rest = [f"{f.requirement} {f.way}" for f in failures[number - 1 :]]
            return [*lines, plain(f"And {len(rest)} more: {clipped('; '.join(rest), 2000)}."), ""]
        lines += lines_of_one
    return lines


def _failure(number: int, one: Failure) -> list[str]:
    kinds = kinds_words(one.workload_kinds)
    feature = f" ({one.feature})" if one.feature else ""
    lines = [
        f"**{number}. {plain(one.requirement)} {plain(one.way)}** on {plain(kinds + feature)} "
        f"data, {counted(one.cases, 'case')}",
        "",
    ]
    requirement = load().get(one.requirement)
    if requirement is not None:
        lines += [f"> {requirement.text}", ""]
    lines.append(f"- case: {plain(one.case_words)}")
    expected, got = batches_words(one.expected), batches_words(one.got)
    facts = (("shown", one.words), ("expected", expected), ("got", got), ("worst", one.worst))
    if one.also:
        lines.append(f"- also with: {plain('; '.join(one.also))}")
    lines += [f"- {name}: {code(clipped(value, _SHOWN))}" for name, value in facts if value]
    if one.script:
        lines.append(f"- script: {code(one.script)}")
    if one.script_note:
        lines.append(f"- note: {plain(one.script_note)}")
    if one.stacks:
        lines += ["- where the processes stood:", "", *block(one.stacks)]
    drawing = draw(one.delivered)
    if drawing.tells:
        lines += ["", *block(drawn_text(drawing))]
    return [*lines, ""]


def _known(known: Sequence[Known]) -> list[str]:
    if not known:
        return []
    lines = [f"### {counted(len(known), 'known failure')}", ""]
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


def _reasons(document: Document) -> list[str]:
    found = overview.reasons(document)
    if not found:
        return []
    lines = ["<details><summary>Refused, blocked and not offered</summary>", ""]
    for outcome, reasons in found.items():
        lines += [f"**{outcome}**", ""]
        lines += [
            f"- {counted(one.cases, 'case')}: {code(clipped(one.words, _SHOWN))}"
            for one in reasons[:_REASONS]
        ]
        rest = len(reasons) - _REASONS
        if rest > 0:
            lines.append(f"- and {counted(rest, 'other reason')}")
        lines.append("")
    return [*lines, "</details>", ""]


def _foot(document: Document) -> list[str]:
    command = printable(command_words(document.header), lines=False)
    return ["To see it yourself:", "", "```console", f"$ {command}", "```"]
