"""Read the requirements out of the specification's prose, and write their index.

Each requirement is one line of a page, in the shape that ``conformance.md`` describes; this
parser and the readers of ``requirements.json`` are the only code that depends on it.

``python spec/tests/requirement_index.py`` checks the index; with ``--write`` it writes it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

SPEC = Path(__file__).resolve().parent.parent
INDEX = SPEC / "requirements.json"

_ID = r"[A-Z]+-[1-9][0-9]*"
_OPENING = re.compile(rf'^\s*[-*] <a id="{_ID}"></a>')
_REQUIREMENT = re.compile(
    rf'^- <a id="(?P<anchor>{_ID})"></a>\*\*(?P<id>{_ID})\*\*'
    r" · (?P<class>[A-Z][a-z]+(?:-[a-z]+)?) · (?P<level>MUST|SHOULD|MAY)"
    r" · refusal: (?P<refusal>passes|refused|fails)"
    r" — (?P<text>.+?) \*Why:\* (?P<why>.+?)"
    r"(?: \*Field:\* (?P<field>[^*]+?)\.)?"
    r"(?: \*Unjudged:\* (?P<unjudged>[^*]+))?$"
)
_RETIRED = re.compile(rf'^- <a id="(?P<anchor>{_ID})"></a>\*\*(?P<id>{_ID})\*\* · retired in ')
_REFERENCE = re.compile(r"^[A-Za-z][A-Za-z0-9-]*#[1-9][0-9]*$")
_CLASS = re.compile(
    r"^\| \*\*(?P<name>[A-Za-z-]+)\*\* \| (?P<binds>any loader|this format) \| (.+) \|$"
)
_VERSION = re.compile(r"^\*\*Version:\*\* (\d+\.\d+)\b")
_BINDS = {"any loader": "any", "this format": "format"}


class ProseError(ValueError):
    """A line of the specification is not in the shape that the index needs."""


def build(spec: Path = SPEC) -> dict[str, Any]:
    """Return the index of the pages in ``spec``.

    Raises:
        ProseError: a line that opens like a requirement does not parse, an id is used twice or
            was retired, or a requirement names a class that ``conformance.md`` does not define.
    """
    retired = _retired(spec / "changelog.md")
    classes = _classes(spec / "conformance.md")
    requirements: dict[str, dict[str, Any]] = {}
    for page in sorted(spec.glob("*.md")):
        for entry in _requirements(page):
            if entry["id"] in requirements:
                raise ProseError(f"{page.name}: {entry['id']} is used twice")
            if entry["id"] in retired:
                raise ProseError(f"{page.name}: {entry['id']} is retired and may not be reused")
            if entry["class"] not in {c["name"] for c in classes}:
                raise ProseError(f"{page.name}: {entry['id']} is of no known class")
            requirements[entry["id"]] = entry
    rank = {c["name"]: i for i, c in enumerate(classes)}
    ordered = sorted(requirements.values(), key=lambda e: (rank[e["class"]], _sort_key(e["id"])))
    return {
        "spec": "midepoch",
        "version": _version(spec / "index.md"),
        "classes": classes,
        "requirements": ordered,
        "retired": retired,
    }


def dumps(index: dict[str, Any]) -> str:
    """Return the text of ``requirements.json`` for an index."""
    return json.dumps(index, indent=2, ensure_ascii=False) + "\n"


def lost(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return the ids that ``old`` knows and ``new`` neither keeps nor lists as retired."""
    known = {e["id"] for e in old["requirements"]} | set(old["retired"])
    return sorted(known - {e["id"] for e in new["requirements"]} - set(new["retired"]))


def _requirements(page: Path) -> list[dict[str, Any]]:
    entries = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if not _OPENING.match(line) or _RETIRED.match(line):
            continue
        match = _REQUIREMENT.match(line)
        if match is None:
            raise ProseError(f"{page.name}:{number}: not in the shape of a requirement: {line}")
        if match["anchor"] != match["id"]:
            raise ProseError(f"{page.name}:{number}: the anchor is not the id")
        entries.append(_entry(match, page.name))
    return entries


def _entry(match: re.Match[str], page: str) -> dict[str, Any]:
    field = match["field"].split(", ") if match["field"] else []
    for reference in field:
        if not _REFERENCE.match(reference):
            raise ProseError(f"{page}: {match['id']}: {reference!r} is no reference like data#1520")
    return {
        "id": match["id"],
        "class": match["class"],
        "level": match["level"],
        "refusal": match["refusal"],
        "text": match["text"],
        "why": match["why"],
        "field": field,
        "unjudged": match["unjudged"],
        "page": page,
    }


def _retired(page: Path) -> list[str]:
    lines = page.read_text(encoding="utf-8").splitlines()
    return [m["id"] for m in map(_RETIRED.match, lines) if m is not None]


def _classes(page: Path) -> list[dict[str, str]]:
    lines = page.read_text(encoding="utf-8").splitlines()
    matches = [m for m in map(_CLASS.match, lines) if m is not None]
    return [{"name": m["name"], "binds": _BINDS[m["binds"]], "title": m[3]} for m in matches]


def _version(page: Path) -> str:
    for line in page.read_text(encoding="utf-8").splitlines():
        if match := _VERSION.match(line):
            return match[1]
    raise ProseError(f"{page.name} states no version")


def _sort_key(identifier: str) -> tuple[str, int]:
    prefix, number = identifier.split("-")
    return prefix, int(number)


def keep(file: Path, index: dict[str, Any], gone: list[str], arguments: list[str] | None) -> int:
    """Check an index in a file against the prose, or write it; return the exit status.

    ``gone``: the ids that the file has, and the prose neither keeps nor lists as retired.
    """
    parser = argparse.ArgumentParser(description="Check an index against the prose.")
    parser.add_argument("--write", action="store_true", help="write the index instead")
    options = parser.parse_args(arguments)
    if gone:
        print(f"ids vanished; list them as retired in changelog.md: {', '.join(gone)}")
        return 1
    if options.write:
        file.write_text(dumps(index), encoding="utf-8")
        return 0
    if not file.exists() or file.read_text(encoding="utf-8") != dumps(index):
        print(f"{file.name} differs from the prose; run this with --write")
        return 1
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Check the index of requirements, or write it; return the exit status."""
    index, gone = build(), []
    if INDEX.exists():
        gone = lost(json.loads(INDEX.read_text(encoding="utf-8")), index)
    return keep(INDEX, index, gone, arguments)


if __name__ == "__main__":
    sys.exit(main())
