"""mkdocs hook: the pages, schema and vectors of ``spec/`` become part of the site.

Implementers read the specification in ``spec/``. The site shows the same text, with each
requirement as a block that has an anchor and names its judge, and each rule with a small id.
"""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import field_page
import field_table
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from requirement_block import Known, replace_requirements, small_rule_ids

SPEC = Path(__file__).resolve().parents[2] / "spec"
DATA = ("*.json", "schema/**/*.json", "vectors/**/*.json")
NAV_ENTRY = "spec/"
_LINK = re.compile(r"\]\(([a-z0-9_/.-]+\.md)(?:#[^)]*)?\)")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace the navigation's ``spec/`` by the pages, in the order that the index links them."""
    config.nav = [
        {title: _nav() if target == NAV_ENTRY else target for title, target in entry.items()}
        for entry in config.nav or []
    ]
    config.watch.append(str(SPEC))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the specification's pages and data, and the table of all requirements."""
    index = load_index()
    by_id = {r["id"]: r for r in index["requirements"]}
    judges = describe_judges()
    known = Known(judges, examples(), reports())
    for page in pages():
        text = replace_requirements(page.read_text(encoding="utf-8"), by_id, known)
        text = small_rule_ids(text)
        files.append(File.generated(config, _uri(page), content=text))
    table = requirement_table(index, judges)
    files.append(File.generated(config, "spec/requirements.md", content=table))
    for path in sorted({p for pattern in DATA for p in SPEC.glob(pattern)}):
        files.append(File.generated(config, _uri(path), abs_src_path=str(path)))
    return files


def pages() -> list[Path]:
    """Return the pages, first those that the index links, in its order."""
    found = [p for p in sorted(SPEC.rglob("*.md")) if "tests" not in p.parts]
    front = SPEC / "index.md"
    linked = [SPEC / name for name in _LINK.findall(front.read_text(encoding="utf-8"))]
    order = [front, *(p for p in linked if p in found), *found]
    return list(dict.fromkeys(order))


def load_index() -> dict[str, Any]:
    """Return the machine-readable index of all requirements."""
    index: dict[str, Any] = json.loads((SPEC / "requirements.json").read_text(encoding="utf-8"))
    return index


def load_rules() -> dict[str, Any]:
    """Return the machine-readable index of all rules."""
    index: dict[str, Any] = json.loads((SPEC / "rules.json").read_text(encoding="utf-8"))
    return index


def describe_judges() -> dict[str, str]:
    """Return for each judged requirement its judge's name and first line, as Markdown."""
    # Imported late: other mkdocs commands also load the hooks, and need no judges.
    from midepoch_conformance.judges import REGISTRY

    out = {}
    for name, judge in REGISTRY.items():
        words = (inspect.getdoc(judge.function) or "").partition("\n")[0]
        place = f"{judge.function.__module__.rpartition('.')[2]}.{judge.function.__name__}"
        out[name] = f"`{place}` {words}"
    return out


def examples() -> dict[str, str]:
    """Return what the first mutant of each requirement does, by its docstring's first line."""
    out: dict[str, str] = {}
    for mutant in field_page.traceability().mutants().values():
        sentence = mutant.words[:1].lower() + mutant.words[1:]
        out.setdefault(mutant.expected, sentence)
    return out


def reports() -> dict[str, str]:
    """Return for each public report what is wrong there, in one sentence."""
    return {
        label: failure.wrong.removesuffix(".")
        for failure in field_table.load()
        for label in failure.seen
    }


def requirement_table(index: dict[str, Any], judges: dict[str, str]) -> str:
    """Return the page that lists every requirement, class by class."""
    out = [
        "# All requirements\n",
        f"Version {index['version']}: {len(index['requirements'])} requirements, "
        f"the suite judges {sum(r['id'] in judges for r in index['requirements'])} of them. "
        "The column *Refusal* says how a refusal by the loader counts. "
        "The same list as data: [requirements.json](requirements.json).\n",
    ]
    for group in index["classes"]:
        out += [f"## {group['name']}\n", f"{group['title'].capitalize()}.\n"]
        out += ["| Requirement | Text | Refusal | Judged |", "| --- |" + " --- |" * 3]
        members = [r for r in index["requirements"] if r["class"] == group["name"]]
        out += [_row(r, "yes" if r["id"] in judges else "not yet") for r in members]
        out.append("")
    return "\n".join(out)


def _row(requirement: dict[str, Any], judged: str) -> str:
    link = f"[{requirement['id']}]({requirement['page']}#{requirement['id']}){{ .req-ref }}"
    text = requirement["text"].replace("|", "\\|")
    return f"| {link} | {text} | {requirement['refusal']} | {judged} |"


def _nav() -> list[Any]:
    entries: list[Any] = [{_title(p): _uri(p)} for p in pages() if p.parent == SPEC]
    entries[0] = {"Overview": _uri(SPEC / "index.md")}
    entries.append({"All requirements": "spec/requirements.md"})
    for folder in dict.fromkeys(p.parent for p in pages() if p.parent != SPEC):
        inside: list[Any] = [{_title(p): _uri(p)} for p in pages() if p.parent == folder]
        entries += inside if len(inside) == 1 else [{folder.name.capitalize(): inside}]
    return entries


def _title(page: Path) -> str:
    match = _TITLE.search(page.read_text(encoding="utf-8"))
    return match[1].strip() if match else page.stem


def _uri(path: Path) -> str:
    return f"spec/{path.relative_to(SPEC).as_posix()}"
