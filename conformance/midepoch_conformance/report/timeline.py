"""The batches of a failing case, drawn under those of the uninterrupted run (pure).

Each epoch is a grid: a column for each batch of the uninterrupted run, a row for each stretch
that a session delivered. A batch stands under its equal: a missing batch is a gap, and a repeated
one is a box where nothing was due.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, cast

from midepoch_conformance.text import clipped, printable

__all__ = ["WRONG", "Cell", "Drawing", "Grid", "Row", "draw"]

_IDS, _WIDTH, _NAMED = 6, 12, 9
"""The most ids that are shown of a batch, characters of an id, and characters that no hash has."""

_LOADS = frozenset({"load", "load_cut", "load_document", "load_merged", "load_bogus"})
_LEAVES = frozenset({"break", "close", "open", "kill"})


@dataclasses.dataclass(frozen=True)
class Cell:
    """A box."""

    look: str = "blank"
    """``right``; ``missing`` (due, and skipped), ``repeated`` (delivered before) or ``wrong``
    (another batch was due). ``unknown`` if nothing says what was due; ``blank`` if no batch was
    asked for."""
    text: str = ""
    """The batch, shortened."""
    whole: str = ""
    """The batch in full."""
    marks: tuple[str, ...] = ()
    """The states that were saved right after it."""
    long: bool = False
    """Whether an id of it is too long for a box."""


@dataclasses.dataclass(frozen=True)
class Row:
    """A stretch of an epoch that a session delivered."""

    label: str
    """The session."""
    words: str
    """The session's execution, and the state that it loaded."""
    cells: tuple[Cell, ...]
    """A cell for each column of the grid; the first stands before the first batch."""
    fault: str = ""
    """The fault that ended the stretch, if any."""
    ended: bool = False
    """Whether the end of the epoch was seen."""


@dataclasses.dataclass(frozen=True)
class Grid:
    """An epoch: the batches that were due, and the stretches that were delivered."""

    epoch: int
    due: tuple[Cell, ...]
    rows: tuple[Row, ...]

    @property
    def wrong(self) -> bool:
        """Whether any box is wrong."""
        return any(cell.look in WRONG for row in self.rows for cell in row.cells)


WRONG = ("missing", "repeated", "wrong")
"""The looks of boxes that break the order."""


@dataclasses.dataclass(frozen=True)
class Drawing:
    """All epochs with delivered batches; ``capped``: some batches are not drawn."""

    grids: tuple[Grid, ...]
    capped: bool = False
    names: tuple[tuple[str, str], ...] = ()
    """The short names of long batches, each with its batch in full."""

    @property
    def tells(self) -> bool:
        """Whether the drawing shows the failure; some failures are not about which batches came."""
        return any(grid.wrong or any(row.fault for row in grid.rows) for grid in self.grids)


def draw(delivered: Mapping[str, Any] | None) -> Drawing:
    """Return the drawing of a failure's ``delivered``.

    Example:
        >>> step = {"do": "take", "words": "", "epoch": 0, "at": 1, "batches": [[2]]}
        >>> drawing = draw({
        ...     "uninterrupted": [[[0], [1], [2]]],
        ...     "sessions": [{"words": "no workers", "steps": [step]}],
        ...     "capped": False,
        ... })
        >>> [(cell.look, cell.text) for cell in drawing.grids[0].rows[0].cells]
        [('blank', ''), ('blank', ''), ('missing', '1'), ('right', '2')]
    """
    if not delivered:
        return Drawing(())
    epochs = [[_key(batch) for batch in epoch] for epoch in delivered["uninterrupted"]]
    stretches: dict[int, list[_Stretch]] = {}
    for stretch in _stretches(delivered["sessions"], epochs):
        stretches.setdefault(stretch.epoch, []).append(stretch)
    first = delivered["sessions"][0]["words"] if delivered["sessions"] else ""
    rank = _rank(first.partition(", in batches of")[0])
    grids = [
        _grid(epoch, epochs[epoch] if epoch < len(epochs) else None, members, rank)
        for epoch, members in sorted(stretches.items())
    ]
    named, names = _named(grids)
    return Drawing(tuple(named), bool(delivered.get("capped")), names)


def _named(grids: Sequence[Grid]) -> tuple[list[Grid], tuple[tuple[str, str], ...]]:
    """Return the grids with short names for batches that are too long for a box."""
    cells = [
        cell for grid in grids for row in (grid.due, *(r.cells for r in grid.rows)) for cell in row
    ]
    if not any(cell.long for cell in cells):
        return list(grids), ()
    names: dict[str, str] = {}
    for cell in cells:
        if cell.text:
            names.setdefault(cell.whole, f"b{len(names)}")

    def named(row: Sequence[Cell]) -> tuple[Cell, ...]:
        return tuple(
            dataclasses.replace(cell, text=names[cell.whole]) if cell.text else cell for cell in row
        )

    renamed = [
        dataclasses.replace(
            grid,
            due=named(grid.due),
            rows=tuple(dataclasses.replace(row, cells=named(row.cells)) for row in grid.rows),
        )
        for grid in grids
    ]
    return renamed, tuple((name, whole) for whole, name in names.items())


_Key = tuple[str, ...]
_Code = tuple[str, int, int, int, int]


@dataclasses.dataclass
class _Stretch:
    """Batches that follow each other in one session; ``saves`` by batches delivered before."""

    label: str
    words: str
    epoch: int
    at: int
    batches: list[_Key] = dataclasses.field(default_factory=list)
    saves: dict[int, list[str]] = dataclasses.field(default_factory=dict)
    fault: str = ""
    ended: bool = False

    @property
    def place(self) -> tuple[int, int]:
        return self.epoch, self.at + len(self.batches)


def _stretches(
    sessions: Sequence[Mapping[str, Any]], epochs: Sequence[Sequence[_Key]]
) -> Iterator[_Stretch]:
    saved: dict[str, tuple[int, int]] = {}
    for number, session in enumerate(sessions, start=1):
        current: _Stretch | None = None
        loaded, skew = "", 0
        pending: tuple[int, int] | None = None
        for step in session["steps"]:
            if step["do"] in _LOADS:
                current, pending, skew = None, saved.get(step.get("state", "")), 0
                loaded = f"loads {step.get('state') or 'a state'}"
            elif step["do"] in _LEAVES:
                current = None
            told = step.get("batches") or step.get("ended") or step.get("fault")
            taken = step["do"] == "save" and not step.get("fault")
            if not (told or taken):
                continue
            got = [_key(batch) for batch in step.get("batches") or ()]
            place = (int(step.get("epoch", 0)) - skew, int(step.get("at", 0)))
            if pending and got and pending[0] < place[0] and _late(got, pending, place, epochs):
                # The load took effect late: at the next iteration instead of the live one.
                skew += place[0] - pending[0]
                place = pending
            if current is None or current.place != place:
                words = ", ".join(filter(None, (str(session["words"]), loaded)))
                current = _Stretch(f"session {number}", words, *place)
                loaded = ""
                yield current
            current.batches += got
            if taken:
                name = str(step.get("state", ""))
                saved[name] = current.place
                current.saves.setdefault(current.place[1], []).append(name)
            current.fault = str(step.get("fault") or "")
            current.ended = bool(step.get("ended"))
            if current.fault or current.ended:
                current, pending = None, None


def _late(
    got: Sequence[_Key],
    pending: tuple[int, int],
    place: tuple[int, int],
    epochs: Sequence[Sequence[_Key]],
) -> bool:
    """Return whether the batches belong to the loaded position instead of the current one."""
    return _fits(got, pending, epochs) and not _fits(got, place, epochs)


def _fits(got: Sequence[_Key], place: tuple[int, int], epochs: Sequence[Sequence[_Key]]) -> bool:
    epoch, at = place
    return epoch < len(epochs) and list(got) == list(epochs[epoch][at : at + len(got)])


def _rank(words: str) -> str:
    """Return the rank in the words of a session, and its own batch size; nothing of a loader that
    is alone and has the plan's."""
    return " ".join(re.findall(r"rank \d+ of \d+|in batches of \d+", words))


def _grid(epoch: int, due: list[_Key] | None, members: list[_Stretch], rank: str) -> Grid:
    # The uninterrupted run is the first session's rank, in batches of the plan's size. It says
    # nothing of other ranks' batches.
    laid = [_laid(stretch, due if _rank(stretch.words) == rank else None) for stretch in members]
    columns = max([len(due or ()), *(max(row.columns, default=-1) + 1 for row in laid)])
    extra = [
        max((len(row.extra.get(n, ())) for row in laid), default=0) for n in range(columns + 1)
    ]
    rows = []
    for stretch, row in zip(members, laid, strict=True):
        rows.append(
            Row(
                stretch.label,
                stretch.words,
                _marked(row, stretch.saves, columns, extra),
                stretch.fault,
                stretch.ended,
            )
        )
    first = _Laid({n: _box("due", key) for n, key in enumerate(due or ())})
    return Grid(epoch, _marked(first, {}, columns, extra), tuple(rows))


@dataclasses.dataclass
class _Laid:
    """Boxes by column, and those that stand between columns, before the column of that number."""

    columns: dict[int, Cell] = dataclasses.field(default_factory=dict)
    extra: dict[int, list[Cell]] = dataclasses.field(default_factory=dict)


def _marked(
    row: _Laid, saves: Mapping[int, list[str]], columns: int, extra: Sequence[int]
) -> tuple[Cell, ...]:
    """Return a row's cells; the first is for states saved before the first batch."""
    cells = [Cell(marks=tuple(saves.get(0, ())))]
    for number in range(columns + 1):
        between = row.extra.get(number, [])
        cells += between + [Cell()] * (extra[number] - len(between))
        if number < columns:
            cell = row.columns.get(number, Cell())
            marks = tuple(saves.get(number + 1, ()))
            cells.append(dataclasses.replace(cell, marks=marks) if marks else cell)
    return tuple(cells)


def _laid(stretch: _Stretch, due: list[_Key] | None) -> _Laid:
    got, at = stretch.batches, stretch.at
    if due is None:
        return _Laid({at + n: _box("unknown", key) for n, key in enumerate(got)})
    if "out of order" in stretch.words:
        return _scattered(got, due)
    row = _Laid()
    again = _again(got, at, due)
    for n in range(again):
        row.columns[due.index(got[0]) + n] = _box("repeated", got[n])

    def astray(number: int) -> Cell:
        key = got[number]
        return _box("repeated" if key in due[:at] or key in got[:number] else "wrong", key)

    for action, low, high, first, last in _aligned(due[at:], got[again:]):
        low, high, first, last = low + at, high + at, first + again, last + again
        if action == "equal":
            row.columns |= {n: _box("right", due[n]) for n in range(low, high)}
            continue
        paired = min(high - low, last - first)
        for n in range(paired):
            row.columns[low + n] = astray(first + n)
        for n in range(low + paired, high):
            # A batch that nobody asked for is not missing.
            if last < len(got) or stretch.ended:
                row.columns[n] = _box("missing", due[n])
        if last > first + paired:
            row.extra.setdefault(high, []).extend(map(astray, range(first + paired, last)))
    return row


def _scattered(got: Sequence[_Key], due: Sequence[_Key]) -> _Laid:
    """Lay out batches that may come in any order, each under its equal."""
    row = _Laid()
    for key in got:
        free = [n for n, want in enumerate(due) if want == key and n not in row.columns]
        if free:
            row.columns[free[0]] = _box("right", key)
        else:
            look = "repeated" if key in due else "wrong"
            row.extra.setdefault(len(due), []).append(_box(look, key))
    return row


def _again(got: Sequence[_Key], at: int, due: Sequence[_Key]) -> int:
    """Return the number of batches at the start that repeat the epoch before ``at``, in order."""
    if not got or got[0] not in due[:at] or got[0] == next(iter(due[at:]), None):
        return 0
    first = due.index(got[0])
    count = 0
    while count < len(got) and first + count < at and got[count] == due[first + count]:
        count += 1
    return count


def _aligned(due: Sequence[_Key], got: Sequence[_Key]) -> list[_Code]:
    """Return the alignment of ``got`` with ``due``, in the form of ``difflib``."""
    pairs = zip(due, got, strict=False)
    same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    matcher = SequenceMatcher(None, due[same:], got[same:], autojunk=False)
    codes: list[_Code] = [*matcher.get_opcodes()]
    skipped = {
        key
        for action, low, high, _, _ in codes
        if action != "equal"
        for key in due[same + low : same + high]
    }
    astray = {
        key
        for action, _, _, first, last in codes
        if action != "equal"
        for key in got[same + first : same + last]
    }
    equal = sum(high - low for action, low, high, _, _ in codes if action == "equal")
    # Another order: skipped batches come elsewhere, and a few equal ones are chance.
    if skipped & astray or 2 * equal < len(got) - same:
        codes = _side_by_side(due[same:], got[same:])
    moved = [(action, *(place + same for place in places)) for action, *places in codes]
    return [("equal", 0, same, 0, same), *cast("list[_Code]", moved)]


def _side_by_side(due: Sequence[_Key], got: Sequence[_Key]) -> list[_Code]:
    codes: list[_Code] = [
        ("equal" if want == came else "replace", n, n + 1, n, n + 1)
        for n, (want, came) in enumerate(zip(due, got, strict=False))
    ]
    n = len(codes)
    return [*codes, ("replace", n, len(due), n, len(got))]


def _box(look: str, key: _Key) -> Cell:
    shown = key if len(key) <= _IDS else (*key[: _IDS - 2], "…", key[-1])
    text = " ".join(clipped(one, _WIDTH) for one in shown)
    long = any(len(one) > _NAMED for one in key)
    return Cell(look, text or "∅", " ".join(key), long=long)


def _key(batch: Sequence[Any]) -> _Key:
    return tuple(printable(str(one), lines=False) for one in batch)
