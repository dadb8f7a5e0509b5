"""Read and render ``docs/field-failures.toml``: failures in the field and what answers them."""

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
    """One row of the table.

    Attributes:
        section: the heading that it stands under.
        wrong: what goes wrong, in one sentence.
        requirements: the ids of the requirements that answer it.
        probes: the families of cases that play it.
        seen: public reports, such as ``data#1520``.
        name: what it is called where no report has a number.
        note: what is to be said beside, or ``""``.
        nearest: why the requirements are the nearest ones only and cite no report of it, or
            ``""``.
    """

    section: str
    wrong: str
    requirements: tuple[str, ...]
    probes: tuple[str, ...]
    seen: tuple[str, ...] = ()
    name: str = ""
    note: str = ""
    nearest: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """Return what the failure is known by: its reports, and its name where it has one."""
        return (*self.seen, self.name) if self.name else self.seen


def load(path: Path = SOURCE) -> tuple[Failure, ...]:
    """Return the failures, in the order of the file.

    Raises:
        FieldTableError: the file is no TOML, or not in the form that the schema asks for.
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
    """Return the mutants that show a failure, of all and the labels of the failures they show."""
    return [name for name, shown in mutants.items() if set(shown) & set(failure.labels)]


def markdown(failures: tuple[Failure, ...], mutants: Mapping[str, Iterable[str]]) -> str:
    """Return the failures as Markdown: a table for each section.

    Args:
        failures: the rows.
        mutants: the loaders that are broken on purpose, with the failures that each shows.
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
        # A name may be broken after each of its words.
        [f"<code>{name.replace('_', '_<wbr>')}</code>" for name in mutants],
    )
    return f"| {' | '.join('<br>'.join(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def _quiet(key: str, items: Iterable[str]) -> str:
    return f'<span class="field-quiet">{key} {", ".join(items)}</span>'
