"""A drawing of batches in characters, for a terminal and for Markdown (pure)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from midepoch_conformance.report.timeline import WRONG, Cell, Drawing, Grid
from midepoch_conformance.text import clipped, printable

__all__ = ["drawn_text"]

_LEGEND = {
    "missing": "(n) missing",
    "repeated": "+n delivered before",
    "wrong": "!n another batch was due",
}
_LINE, _LISTED = 160, 6
"""The most characters of a line, and the most batches whose names are explained."""


def drawn_text(drawing: Drawing, width: int = _LINE) -> str:
    """Return the drawing in characters, a line per row; correct epochs are left out.

    Args:
        drawing: the drawing.
        width: the most characters of a line. A longer grid is broken into parts.

    Example:
        >>> step = {"do": "take", "words": "", "epoch": 0, "at": 1, "batches": [[2]]}
        >>> from midepoch_conformance.report.timeline import draw
        >>> print(drawn_text(draw({
        ...     "uninterrupted": [[[0], [1], [2]]],
        ...     "sessions": [{"words": "no workers", "steps": [step]}],
        ...     "capped": False,
        ... })))
        epoch 0    0 1   2
        session 1    (1) 2
        (n) missing
    """
    grids = [g for g in drawing.grids if g.wrong or any(row.fault for row in g.rows)]
    cells = [cell for grid in grids for row in grid.rows for cell in row.cells]
    legend = [words for look, words in _LEGEND.items() if look in {cell.look for cell in cells}]
    if any(cell.marks for cell in cells):
        legend.append("^ saved here")
    lines = [line for grid in grids for line in _lines(grid, width)]
    lines.append(", ".join(legend))
    explained = _explained(drawing, grids)
    lines += [clipped(f"{name} = {whole}", width) for name, whole in explained[:_LISTED]]
    if len(explained) > _LISTED:
        lines.append(f"and {len(explained) - _LISTED} more")
    return "\n".join(filter(None, lines))


def _explained(drawing: Drawing, grids: Sequence[Grid]) -> list[tuple[str, str]]:
    """Return the names that a reader needs first: of wrong batches, and of those due there."""
    wanted: list[str] = []
    for grid in grids:
        for row in grid.rows:
            pairs = itertools.zip_longest(grid.due, row.cells, fillvalue=Cell())
            for due, cell in pairs:
                if cell.look in WRONG:
                    wanted += [one.text for one in (due, cell) if one.text]
    names = dict(drawing.names)
    return [(name, names[name]) for name in dict.fromkeys(wanted) if name in names]


def _lines(grid: Grid, width: int) -> list[str]:
    rows = [(f"epoch {grid.epoch}", list(map(_marked_text, grid.due)), "")]
    for row in grid.rows:
        end = f"✗ {row.fault}" if row.fault else "end" if row.ended else ""
        loads = row.words.rpartition(", ")[2] if "loads " in row.words else ""
        label = f"{row.label}, {loads}" if loads else row.label
        rows.append((label, list(map(_marked_text, row.cells)), printable(end, lines=False)))
    # The place before the first batch is shown only if a state was saved there.
    first = 0 if any(words[0] for _, words, _ in rows) else 1
    head = max(len(label) for label, _, _ in rows)
    widths = [
        max(map(len, column)) for column in zip(*(words for _, words, _ in rows), strict=True)
    ]
    found = []
    parts = [*_parts(widths, first, max(width - head - 2, 12))]
    for number, (low, high) in enumerate(parts):
        last = number == len(parts) - 1
        for label, words, end in rows:
            cells = [word.ljust(size) for word, size in zip(words, widths, strict=True)][low:high]
            line = f"{label.ljust(head)}  {' '.join(cells)} {end if last else ''}".rstrip()
            if last or any(words[low:high]):
                found.append(clipped(line, width))
    return found


def _parts(widths: Sequence[int], first: int, room: int) -> Iterator[tuple[int, int]]:
    """Yield the columns of each part of a grid, as many as fit beside each other."""
    low, used = first, 0
    for number in range(first, len(widths)):
        if used and used + widths[number] + 1 > room:
            yield low, number
            low, used = number, 0
        used += widths[number] + 1
    yield low, len(widths)


def _marked_text(cell: Cell) -> str:
    text = {"missing": f"({cell.text})", "repeated": f"+{cell.text}", "wrong": f"!{cell.text}"}
    return text.get(cell.look, cell.text) + ("^" if cell.marks else "")
