"""Read and render ``docs/field-failures.toml``: failures in the field and their answers."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import field_failures
import jsonschema

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCE = Path(__file__).resolve().parents[1] / "field-failures.toml"
SCHEMA = SOURCE.with_suffix(".schema.json")
HEADINGS = ("What goes wrong", "Answered by", "Shown by the mutant")


class FieldTableError(ValueError):
    """The source of the table is not in its form."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """One row of the table."""

    section: str
    """The heading above the row."""
    wrong: str
    """The failure, in one sentence."""
    requirements: tuple[str, ...]
    """The ids of the requirements that answer it."""
    probes: tuple[str, ...]
    """The families of cases that play it."""
    seen: tuple[str, ...] = ()
    """Public reports, such as ``data#1520``."""
    name: str = ""
    """A name for a failure without a numbered report."""
    note: str = ""
    """A remark, or ``""``."""
    nearest: str = ""
    """Why these requirements are only the nearest ones and cite no report of it, or ``""``."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the failure's reports, and its name if it has one."""
        return (*self.seen, self.name) if self.name else self.seen


def load(path: Path = SOURCE) -> tuple[Failure, ...]:
    """Return the failures, in the order of the file.

    Raises:
        FieldTableError: the file is not TOML, or does not match the schema.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise FieldTableError(f"{path.name} is no TOML: {error}") from error
    checker = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    wrong = jsonschema.exceptions.best_match(checker.iter_errors(data))
    if wrong is not None:
        place = wrong.json_path.removeprefix("$.")
        raise FieldTableError(f"{path.name} at {place}: {wrong.message}; see {SCHEMA.name}")
    return tuple(
        _failure(section["title"], row) for section in data["section"] for row in section["failure"]
    )


def _failure(section: str, row: Mapping[str, Any]) -> Failure:
    lists = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}
    return Failure(section=section, **lists)


def shown_by(failure: Failure, mutants: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the mutants that show a failure; ``mutants`` holds each one's failures by label."""
    return [name for name, shown in mutants.items() if set(shown) & set(failure.labels)]


def markdown(failures: tuple[Failure, ...], mutants: Mapping[str, Iterable[str]]) -> str:
    """Return the failures as Markdown: a table for each section.

    Args:
        failures: the rows.
        mutants: the loaders that are broken on purpose, with the failures that each one shows.
    """
    out = []
    for section in dict.fromkeys(f.section for f in failures):
        rows = [f for f in failures if f.section == section]
        out += [
            f"## {section}\n",
            '<div class="field-table" markdown="1">\n',
            f"| {' | '.join(HEADINGS)} |",
            "| " + " | ".join(["---"] * len(HEADINGS)) + " |",
            *(_row(f, shown_by(f, mutants)) for f in rows),
            "\n</div>\n",
        ]
    return "\n".join(out)


def _row(failure: Failure, mutants: list[str]) -> str:
    words = failure.note or failure.nearest
    first = [failure.wrong, *([f"*{words}*"] if words else [])]
    if failure.seen:
        first.append(_quiet("Seen in", map(field_failures.link, failure.seen)))
    cells = (
        first,
        [", ".join(failure.requirements), _quiet("Played by", failure.probes)],
        # The browser may break a name after each of its words.
        [f"<code>{name.replace('_', '_<wbr>')}</code>" for name in mutants],
    )
    return f"| {' | '.join('<br>'.join(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _quiet(key: str, items: Iterable[str]) -> str:
    return f'<span class="field-quiet">{key} {", ".join(items)}</span>'
