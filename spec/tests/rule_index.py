"""Read the rules out of the specification's prose, check their ids, and write their index.

A rule is a paragraph in the shape that ``conformance.md`` describes; this parser and the readers
of ``rules.json`` are the only code that depends on it.

``python spec/tests/rule_index.py`` checks the index; with ``--write`` it writes it.
"""

from __future__ import annotations

import fnmatch
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requirement_index
from requirement_index import SPEC, ProseError

INDEX = SPEC / "rules.json"
DOCS = SPEC.parent / "docs"

_ID = r"[A-Z]+-[1-9][0-9]*"
_OPENING = re.compile(rf'^<a id="{_ID}"></a>')
_RULE = re.compile(rf'^<a id="(?P<anchor>{_ID})"></a>\*\*(?P<id>{_ID})\.\*\* (?P<text>\S.*)$')
_KIND = re.compile(
    r"^\| \*\*(?P<prefix>[A-Z]+)\*\* \| \[\w+\]\((?P<page>\w+\.md)\) \| (?P<about>[^|]+) "
    r"\| (?P<requirements>[^|]+) \|$"
)
_PINS = re.compile(rf"^\| (?P<id>{_ID}) \| (?P<vectors>`[^|]+`) \|$")
_LINK = re.compile(rf"\]\((?P<path>[^)#\s]*)#(?P<id>{_ID})\)")
_KEY_WORD = re.compile(r"\b(?:MUST|SHOULD|MAY)\b")
_RULES_ONLY = "**Normative:** the requirements and the rules."


def build(spec: Path = SPEC) -> dict[str, Any]:
    """Return the index of the rules in ``spec``.

    Raises:
        ProseError: a paragraph that opens like a rule does not parse or is on another page than
            its kind, an id is used twice or was retired, a number is left out, a key word is in a
            sentence that has no id, the tables of kinds and of vectors name what does not exist,
            or a vector stands beside no rule.
    """
    requirements = requirement_index.build(spec)
    kinds = _kinds(spec, {entry["id"] for entry in requirements["requirements"]})
    rules: dict[str, dict[str, Any]] = {}
    for page in sorted(spec.glob("*.md")):
        for rule in _rules(page):
            kind = kinds.get(rule["id"].split("-")[0])
            if kind is None or kind["page"] != page.name:
                raise ProseError(f"{page.name}: no rules such as {rule['id']} belong on this page")
            if rule["id"] in rules:
                raise ProseError(f"{page.name}: {rule['id']} is used twice")
            if rule["id"] in requirements["retired"]:
                raise ProseError(f"{page.name}: {rule['id']} is retired and may not be reused")
            rules[rule["id"]] = rule
    for prefix in kinds:
        _check_numbers(prefix, [*rules, *requirements["retired"]])
    _pin(spec / "vectors", rules)
    order = list(kinds)
    return {
        "spec": "midepoch",
        "version": requirements["version"],
        "kinds": list(kinds.values()),
        "rules": sorted(rules.values(), key=lambda r: _sort_key(r["id"], order)),
    }


def check_references(pages: list[Path], spec: Path = SPEC) -> None:
    """Check every link to an id, and every rule that a page names.

    Raises:
        ProseError: there is no such requirement or rule, or it is on another page.
    """
    index = build(spec)
    requirements = requirement_index.build(spec)["requirements"]
    known = {entry["id"]: entry["page"] for entry in [*requirements, *index["rules"]]}
    prefixes = "|".join(kind["prefix"] for kind in index["kinds"])
    named = re.compile(rf"\b(?:{prefixes})-[0-9]+\b")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link in _LINK.finditer(text):
            target = Path(link["path"] or page.name).name
            if known.get(link["id"]) != target:
                raise ProseError(f"{page.name}: {link['path']}#{link['id']} leads nowhere")
        for name in named.findall(text):
            if name not in known:
                raise ProseError(f"{page.name}: there is no rule {name}")


def pages() -> list[Path]:
    """Return the pages of the specification and of the documentation."""
    return sorted([*SPEC.rglob("*.md"), *DOCS.rglob("*.md")])


def dumps(index: dict[str, Any]) -> str:
    """Return the text of ``rules.json`` for an index."""
    return requirement_index.dumps(index)


def lost(old: dict[str, Any], new: dict[str, Any], retired: list[str]) -> list[str]:
    """Return the ids that ``old`` knows and ``new`` neither keeps nor finds retired."""
    known = {rule["id"] for rule in old["rules"]}
    return sorted(known - {rule["id"] for rule in new["rules"]} - set(retired))


def _rules(page: Path) -> Iterator[dict[str, str]]:
    text = page.read_text(encoding="utf-8")
    rules_only = _RULES_ONLY in text
    blocks = _blocks(text)
    for i, block in enumerate(blocks):
        if not _OPENING.match(block):
            # A requirement's line and what follows a rule's colon have the id of theirs.
            follows = i > 0 and _OPENING.match(blocks[i - 1]) and blocks[i - 1].endswith(":")
            bare = rules_only and not follows and not block.startswith("- <a id=")
            if bare and _KEY_WORD.search(block):
                raise ProseError(f"{page.name}: a key word without an id: {block[:80]}")
            continue
        first, _, rest = block.partition("\n")
        match = _RULE.match(first)
        if match is None:
            raise ProseError(f"{page.name}: not in the shape of a rule: {first}")
        if match["anchor"] != match["id"]:
            raise ProseError(f"{page.name}: the anchor of {match['id']} is not its id")
        paragraph = " ".join([match["text"], *rest.splitlines()])
        if paragraph.endswith(":"):
            paragraph += "\n\n" + blocks[i + 1]
        yield {"id": match["id"], "page": page.name, "text": paragraph}


def _blocks(text: str) -> list[str]:
    """Return the paragraphs, lists and tables of a page; a fence is one block."""
    blocks: list[list[str]] = [[]]
    fenced = False
    for line in text.splitlines():
        if line.startswith("<!--"):
            continue
        if line.startswith("```"):
            fenced = not fenced
        if not line and not fenced:
            blocks.append([])
        else:
            blocks[-1].append(line)
    return ["\n".join(block) for block in blocks if block]


def _kinds(spec: Path, requirements: set[str]) -> dict[str, dict[str, Any]]:
    taken = {name.split("-")[0] for name in requirements}
    kinds: dict[str, dict[str, Any]] = {}
    for line in (spec / "conformance.md").read_text(encoding="utf-8").splitlines():
        if not (match := _KIND.match(line)):
            continue
        judged = match["requirements"].split(", ")
        if match["prefix"] in taken:
            raise ProseError(f"{match['prefix']} is the prefix of requirements")
        if unknown := set(judged) - requirements:
            raise ProseError(f"rules {match['prefix']}: no requirement {', '.join(unknown)}")
        kinds[match["prefix"]] = {
            "prefix": match["prefix"],
            "page": match["page"],
            "about": match["about"],
            "requirements": judged,
        }
    return kinds


def _pin(vectors: Path, rules: dict[str, dict[str, Any]]) -> None:
    """Give each rule the names of the vectors that pin it."""
    left = names = {
        p.relative_to(vectors).with_suffix("").as_posix() for p in vectors.rglob("*.json")
    }
    for rule in rules.values():
        rule["vectors"] = []
    for line in (vectors / "README.md").read_text(encoding="utf-8").splitlines():
        if not (match := _PINS.match(line)):
            continue
        if match["id"] not in rules:
            raise ProseError(f"vectors: there is no rule {match['id']}")
        for pattern in re.findall(r"`([^`]+)`", match["vectors"]):
            found = fnmatch.filter(names, pattern)
            if not found:
                raise ProseError(f"vectors: {match['id']}: there is no {pattern}")
            rules[match["id"]]["vectors"] += sorted(found)
            left = left - set(found)
    if left:
        raise ProseError(f"vectors: no rule stands beside {', '.join(sorted(left))}")


def _check_numbers(prefix: str, ids: list[str]) -> None:
    numbers = sorted(int(name.split("-")[1]) for name in ids if name.split("-")[0] == prefix)
    if not numbers:
        raise ProseError(f"there are no rules {prefix}")
    if gaps := set(range(1, numbers[-1] + 1)) - set(numbers):
        left_out = ", ".join(f"{prefix}-{n}" for n in sorted(gaps))
        raise ProseError(f"left out, and not listed as retired: {left_out}")


def _sort_key(identifier: str, order: list[str]) -> tuple[int, int]:
    prefix, number = identifier.split("-")
    return order.index(prefix), int(number)


def main(arguments: list[str] | None = None) -> int:
    """Check the index of rules, or write it; return the exit status."""
    index, gone = build(), []
    check_references(pages())
    if INDEX.exists():
        old = json.loads(INDEX.read_text(encoding="utf-8"))
        gone = lost(old, index, requirement_index.build()["retired"])
    return requirement_index.keep(INDEX, index, gone, arguments)


if __name__ == "__main__":
    sys.exit(main())
