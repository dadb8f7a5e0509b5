"""The layout of a script: its heading, long lines, long sessions (pure)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

from midepoch_conformance.case.adapter import LoaderInfo
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.finding import Finding

__all__ = ["broken", "heading", "table", "wrapped"]

_WIDTH = 96


def table(items: Iterable[tuple[str, str]]) -> str:
    """Return the source of a dictionary of names."""
    return f"{{{', '.join(f'{key!r}: {value}' for key, value in items)}}}"


def wrapped(head: str, steps: str) -> list[str]:
    """Return a session's row, in several lines if it is long."""
    if len(head) + len(steps) <= _WIDTH:
        return [f'{head}"{steps}"),']
    lines = textwrap.wrap(steps, _WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    texts = [f'        "{line} "' for line in lines[:-1]]
    return [head.rstrip(), *texts, f'        "{lines[-1]}"),']


def broken(text: str) -> str:
    """Return source with its long lines broken after commas that are in brackets.

    Example:
        >>> print(broken(f"one = call({'x' * 30}, {'y' * 30}, {'z' * 30})"))
        one = call(xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx, yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy,
            zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz)
    """
    return "\n".join(piece for line in text.splitlines() for piece in _pieces(line))


def _pieces(line: str) -> Iterator[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    depth, quote, begun, cut, lead = 0, "", 0, 0, ""
    for at, char in enumerate(line):
        if quote:
            quote = "" if char == quote and line[at - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
        if at - begun > _WIDTH - len(lead) and cut > begun:
            yield lead + line[begun:cut]
            begun, lead = cut + 1, indent
        if char == "," and depth and not quote and line[at + 1 : at + 2] == " ":
            cut = at + 1
    yield lead + line[begun:]


def heading(info: LoaderInfo, finding: Finding, words: str) -> str:
    """Return a script's docstring: the loader, the requirement, the case and the finding."""
    known = requirements.load().get(finding.requirement)
    loader = f"{info.name} {info.version}".strip()
    texts = [
        known.text if known else "",
        f"The case: {words}." if words else "",
        f"The suite saw: {finding.words}." if finding.words else "",
    ]
    lines = [line for text in texts for line in _clipped(text)]
    title = f"{loader} {finding.outcome} at {finding.requirement} of midepoch's specification."
    text = (
        _without_home("\n".join([title, "", *lines]), info)
        .replace("\\", "\\\\")
        .replace('"""', "'''")
    )
    return f'"""{text}\n"""'


def _clipped(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), _WIDTH, max_lines=2, placeholder=" ...")


def _without_home(text: str, info: LoaderInfo) -> str:
    """Return text that names no path of the machine on which the script is written."""
    for path in (Path(info.file).parent, Path.cwd(), Path.home()):
        if len(path.parts) > 1:
            text = text.replace(f"{path}/", "")
    return text
