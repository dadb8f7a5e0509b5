"""Every failure in the field is answered: what is missing, in words (pure).

The failures are the rows of ``docs/field-failures.toml``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

HOOKS = Path(__file__).resolve().parents[2] / "docs/hooks"
if str(HOOKS) not in sys.path:
    sys.path.append(str(HOOKS))

import field_table  # noqa: E402 - the folder of the site's hooks has to be found first
from field_table import Failure  # noqa: E402 - the same


def problems(
    failures: Iterable[Failure],
    cited: Mapping[str, Collection[str]],
    looked_at: Mapping[str, Collection[str]],
    probes: Collection[str],
    mutants: Mapping[str, Mapping[str, Collection[str]]],
) -> list[str]:
    """Return every broken link.

    Args:
        failures: the rows.
        cited: for each requirement, the reports that it answers by its *Field* list.
        looked_at: for each judged requirement, the families of cases that its judge looks at.
        probes: the families of cases that there are.
        mutants: for each requirement, the mutants that it catches with the failures each shows.
    """
    rows = list(failures)
    out = [line for row in rows for line in _row(row, cited, looked_at, probes, mutants)]
    out += [f"{label} stands in {n} rows" for label, n in _labels(rows).items() if n > 1]
    for requirement, reports in cited.items():
        missing = [r for r in reports if r not in _labels(rows)]
        out += [f"no row is about {r}, which {requirement} answers" for r in missing]
    for name, shown in _all(mutants).items():
        missing = [label for label in shown if label not in _labels(rows)]
        out += [f"no row is about {label}, which mutant {name} shows" for label in missing]
    return out


def _row(
    row: Failure,
    cited: Mapping[str, Collection[str]],
    looked_at: Mapping[str, Collection[str]],
    probes: Collection[str],
    mutants: Mapping[str, Mapping[str, Collection[str]]],
) -> Iterator[str]:
    here = row.labels[0]
    for requirement in row.requirements:
        if requirement not in cited:
            yield f"{here}: {requirement} is no requirement"
    answers = {report for r in row.requirements for report in cited.get(r, ())}
    for report in () if row.nearest else row.seen:
        if report not in answers:
            yield f"{here}: none of {', '.join(row.requirements)} cites {report}"
    judged = [r for r in row.requirements if r in looked_at]
    if not judged:
        yield f"{here}: none of {', '.join(row.requirements)} has a judge"
    for probe in row.probes:
        if probe not in probes:
            yield f"{here}: there is no family of cases {probe!r}"
        elif not any(probe in looked_at[r] for r in judged):
            yield f"{here}: no judge of {', '.join(judged)} looks at {probe!r}"
    catching = {n: s for r in row.requirements for n, s in mutants.get(r, {}).items()}
    if not field_table.shown_by(row, catching):
        yield f"{here}: no mutant shows it that {' or '.join(row.requirements)} catches"
    for name in field_table.shown_by(row, _all(mutants)):
        if name not in catching:
            yield f"{here}: mutant {name} is caught by another requirement than the row's"


def _labels(rows: Iterable[Failure]) -> Counter[str]:
    return Counter(label for row in rows for label in row.labels)


def _all(mutants: Mapping[str, Mapping[str, Collection[str]]]) -> dict[str, Collection[str]]:
    return {name: shown for caught in mutants.values() for name, shown in caught.items()}
