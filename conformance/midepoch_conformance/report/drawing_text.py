"""A drawing in characters, for terminals and comments (pure)."""

from __future__ import annotations

from midepoch_conformance.report.timeline import Cell, Drawing, Grid
from midepoch_conformance.text import clipped, printable

__all__ = ["drawn_text"]

_LEGEND = {
    "missing": "(n) missing",
    "repeated": "+n delivered before",
    "wrong": "!n another batch was due",
}
_WIDTH = 160


def drawn_text(drawing: Drawing) -> str:
    """Return the drawing, a line a row; epochs that are as they must be are left out.

    Example:
        >>> from midepoch_conformance.report.timeline import draw
        >>> step = {"do": "take", "words": "", "epoch": 0, "at": 1, "batches": [[2]]}
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
    lines = [line for grid in grids for line in _lines(grid)]
    return "\n".join([*lines, ", ".join(legend)]).rstrip()


def _lines(grid: Grid) -> list[str]:
    rows = [(f"epoch {grid.epoch}", list(map(_words, grid.due)), "")]
    for row in grid.rows:
        end = f"✗ {row.fault}" if row.fault else "end" if row.ended else ""
        loads = row.words.rpartition(", ")[2] if "loads " in row.words else ""
        label = f"{row.label}, {loads}" if loads else row.label
        rows.append((label, list(map(_words, row.cells)), printable(end, lines=False)))
    # The place before the first batch is shown only where something was saved there.
    first = 0 if any(words[0] for _, words, _ in rows) else 1
    head = max(len(label) for label, _, _ in rows)
    widths = [
        max(map(len, column)) for column in zip(*(words for _, words, _ in rows), strict=True)
    ]
    found = []
    for label, words, end in rows:
        cells = [word.ljust(width) for word, width in zip(words, widths, strict=True)][first:]
        found.append(clipped(f"{label.ljust(head)}  {' '.join(cells)} {end}".rstrip(), _WIDTH))
    return found


def _words(cell: Cell) -> str:
    text = {"missing": f"({cell.text})", "repeated": f"+{cell.text}", "wrong": f"!{cell.text}"}
    return text.get(cell.look, cell.text) + ("^" if cell.marks else "")
