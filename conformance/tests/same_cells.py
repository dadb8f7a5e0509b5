"""Exit with 1 unless the rows of two folders of reports have the same cells.

``python conformance/tests/same_cells.py PUBLISHED AGAIN``: rows that AGAIN lacks are left out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from midepoch_conformance.matrix.page import Judged, read_reports


def differences(published: list[Judged], again: list[Judged]) -> list[str]:
    """Return in a line each cell whose word, or whose failing requirements, differ."""
    known = {row.anchor: row for row in published}
    found: list[str] = []
    for row in again:
        if row.anchor not in known:
            found.append(f"{row.title} is not published")
            continue
        profiles = [one.document.header.profile for one in (known[row.anchor], row)]
        if len({*profiles}) > 1:
            found.append(f"{row.title}: {profiles[0]} was published, {profiles[1]} is played now")
            continue
        for name in sorted({*row.cells, *known[row.anchor].cells}):
            before, now = (_told(one, name) for one in (known[row.anchor], row))
            if before != now:
                found.append(f"{row.title}, {name}: {before} was published, {now} now")
    return found


def _told(row: Judged, name: str) -> str:
    cell = row.cell(name)
    return " ".join([cell.word, *sorted({failure.requirement for _, failure in cell.failures})])


if __name__ == "__main__":
    published, again = (read_reports(Path(folder)) for folder in sys.argv[1:])
    odd = differences(published, again)
    print("\n".join(odd) or f"{len(again)} rows have the same cells")
    sys.exit(bool(odd))
