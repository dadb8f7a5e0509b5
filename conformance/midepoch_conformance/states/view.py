"""A saved state, examined and shown.

The reference loader's own checks and the published schema decide whether a state is valid. The
loader, and torch with it, is imported inside the functions that need it.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from midepoch_conformance.states.files import StoredState
from midepoch_conformance.text import clipped, counted, printable
from midepoch_conformance.verdict.format.published import schema

if TYPE_CHECKING:
    from midepoch.format.state import Document, LaneEntry

__all__ = ["Examination", "against_schema", "examine", "facts", "show_states"]

_LANES_SHOWN = 16
_NEXT_SHOWN = 8
_PROBLEMS_SHOWN = 5


@dataclasses.dataclass(frozen=True)
class Examination:
    """The result of examining one state."""

    document: Document | None
    """The state, if it is valid."""
    problems: tuple[str, ...] = ()
    """The faults of the state; empty for a valid one."""
    note: str = ""
    """A check that was not possible, and why."""
    size: int | None = None
    """The size of its canonical JSON in bytes, if it has a JSON form."""


def examine(stored: StoredState) -> Examination:
    """Check a state with the reference loader and the schema."""
    from midepoch.errors import StateEncodingError, StateError
    from midepoch.format.state import Document

    if stored.fault is not None:
        return Examination(None, (_named(stored.fault),))
    problems: list[str] = []
    document: Document | None = None
    try:
        document = Document.from_dict(stored.value)
    except StateError as error:
        problems.append(_named(error))
    size, note = None, ""
    try:
        text = _canonical(stored.value)
        size = len(text)
        if not problems:
            problems += against_schema(json.loads(text))
    except StateEncodingError as error:
        note = f"not checked against the schema: it has no JSON form: {error}"
    return Examination(None if problems else document, tuple(problems), note, size)


def show_states(path: Path, states: list[StoredState], console: Console) -> bool:
    """Print the states of a file; return whether all of them are valid."""
    valid = True
    for state in states:
        examination = examine(state)
        valid = valid and not examination.problems
        where = f", at {printable(state.path)}" if state.path else ""
        verdict = ("invalid", "bold red") if examination.problems else ("valid", "bold green")
        console.print(Text.assemble((f"{path}{where}: ", "bold"), verdict))
        console.print(Padding(_body(state, examination), (0, 0, 0, 2)))
    return valid


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _canonical(value: Any) -> bytes:
    from midepoch import state_to_json

    return state_to_json(value)


def against_schema(tree: Any) -> list[str]:
    """Return the faults that the published schema finds in a state's canonical JSON."""
    import jsonschema

    validator = jsonschema.Draft202012Validator(schema())
    found = sorted(validator.iter_errors(tree), key=lambda error: error.json_path)
    return [
        f"the schema, at {error.json_path}: {clipped(printable(error.message, False), 200)}"
        for error in found
    ]


def _body(state: StoredState, examination: Examination) -> Group:
    told: list[tuple[str, str]] = []
    problems = examination.problems
    told += [("problem", printable(text)) for text in problems[:_PROBLEMS_SHOWN]]
    if len(problems) > _PROBLEMS_SHOWN:
        told.append(("", f"and {len(problems) - _PROBLEMS_SHOWN} more"))
    document = examination.document
    if document is None:
        told += _claims(state.value)
    else:
        told += facts(document)
    if examination.size is not None:
        told.append(("size", f"{examination.size:,} bytes of canonical JSON"))
    if examination.note:
        told.append(("note", printable(examination.note)))
    parts: list[Table] = [_grid(told)]
    if document is not None and document.lanes is not None:
        parts.append(_lanes(document))
    return Group(*parts)


def _grid(told: list[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True, min_width=8)
    grid.add_column(overflow="fold")
    for name, text in told:
        grid.add_row(name, Text(text, "red" if name == "problem" else ""))
    return grid


def _claims(value: Any) -> list[tuple[str, str]]:
    """Return the version, plan and position of an invalid state, unchecked."""
    found = []
    for name in ("version", "plan", "position"):
        part = value.get(name) if isinstance(value, dict) else None
        if isinstance(part, dict):
            words = ", ".join(f"{k!s} {_short(v)}" for k, v in part.items())
            found.append((name, clipped(printable(words, lines=False), 300)))
        elif part is not None:
            found.append((name, _short(part)))
    return found


def facts(document: Document) -> list[tuple[str, str]]:
    """Return the facts of a valid state by name: its plan, position and next batch."""
    found = [
        ("plan", _plan(document)),
        ("seed", str(document.plan.seed)),
        ("position", _position(document)),
    ]
    following = _next(document)
    if following:
        found.append(("next", following))
    if document.sampler is not None:
        found.append(("sampler", _sampler(document)))
    share = document.position.share
    if share is not None:
        found.append(("share", f"rank {share.rank} of {share.world}"))
    if document.plan.data is not None:
        found.append(("data", printable(document.plan.data)))
    return found


def _plan(document: Document) -> str:
    plan = document.plan
    if plan.dataset == "iterable":
        words = ["an iterable dataset"]
    elif plan.sampler == "custom":
        words = [f"a map-style dataset by the sampler {printable(str(plan.sampler_name))}"]
    else:
        order = "shuffled" if plan.sampler == "shuffle" else "in order"
        words = [f"a map-style dataset of {counted(plan.length or 0, 'sample')}, {order}"]
    size = f"batches of {plan.batch_size}" if plan.batch_size else "no batches of a fixed size"
    words.append(f"{size}{_TAILS[plan.tail] if plan.batch_size else ''}")
    words.append(counted(plan.lanes, "lane") if plan.lanes else "not sharded into lanes")
    if plan.lifetime == "run":
        words.append("the dataset lives as long as the run")
    return ", ".join(words)


_TAILS = {
    "keep": ", an incomplete one kept",
    "drop": ", an incomplete one dropped",
    "rollover": ", left-over samples carried on",
}


def _position(document: Document) -> str:
    plan, position = document.plan, document.position
    if not position.batches:
        return f"epoch {position.epoch}, before its first batch"
    words = f"epoch {position.epoch}, after {counted(position.batches, 'batch')}"
    samples = counted(position.samples, "sample")
    if plan.length is None or plan.tail == "rollover":
        return f"{words} ({samples})"
    size = plan.batch_size or 1
    most = plan.length // size if plan.tail == "drop" else -(-plan.length // size)
    return f"{words} of {most} ({samples})"


def _next(document: Document) -> str:
    """Return the first batch after a resume, if the order is built in."""
    from midepoch.format.permutation import Permutation
    from midepoch.format.seeds import derive

    plan, position = document.plan, document.position
    if plan.length is None or plan.tail == "rollover":
        return ""
    size = plan.batch_size or 1
    first = position.batches * size
    last = min(first + size, plan.length)
    if first >= last or (plan.tail == "drop" and last - first < size):
        return f"the end of the epoch, then epoch {position.epoch + 1}"
    shown = min(last, first + _NEXT_SHOWN)
    if plan.sampler == "shuffle":
        key = derive(plan.seed, "order", position.epoch)
        indices = Permutation(plan.length, key).indices(first, shown)
    else:
        indices = list(range(first, shown))
    more = f" and {last - shown:,} more" if last > shown else ""
    return f"{'samples' if len(indices) > 1 else 'sample'} {', '.join(map(str, indices))}{more}"


def _sampler(document: Document) -> str:
    sampler = document.sampler
    if sampler is None:
        return ""
    words = [f"{slot}: {_part(sampler.states[slot])}" for slot in sampler.stated]
    words += [f"generator {printable(one.path)} ({one.kind})" for one in sampler.generators]
    if not sampler.stated:
        words.append("replayed from the start of the epoch")
    return "; ".join(words)


def _lanes(document: Document) -> Table:
    lanes = document.lanes
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    if lanes is None:
        return table
    for name in ("lane", "snapshot after", "replayed", "dataset", "iterator", ""):
        table.add_column(name, justify="right" if name in ("lane", "replayed") else "left")
    for number, entry in enumerate(lanes.entries[:_LANES_SHOWN]):
        table.add_row(
            str(number),
            counted(entry.ordinal, "batch") if entry.ordinal >= 0 else "an earlier pass",
            str(entry.replay),
            Text(_slot(entry.dataset, "dataset" in entry.stated)),
            Text(_slot(entry.iterator, "iterator" in entry.stated)),
            _lane_words(entry, next_turn=number == lanes.next),
        )
    if len(lanes.entries) > _LANES_SHOWN:
        table.add_row("", f"and {len(lanes.entries) - _LANES_SHOWN} more lanes")
    return table


def _lane_words(entry: LaneEntry, *, next_turn: bool) -> str:
    words = ["ended" if entry.ended else "next" if next_turn else ""]
    words += [counted(len(entry.errors), "error")] if entry.errors else []
    return ", ".join(filter(None, words))


def _slot(value: Any, stated: bool) -> str:
    return _part(value) if stated else "no state"


def _part(value: Any) -> str:
    """Return the kind and the size of a user's part of a state, in words."""
    from midepoch.errors import StateError

    try:
        size = f", {len(_canonical(value)):,} bytes"
    except StateError:
        size = ", no JSON form"
    return f"{_kind(value)}{size}"


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        names = [clipped(printable(str(k), lines=False), 20) for k in list(value)[:4]]
        more = ", …" if len(value) > 4 else ""
        return f"{{{', '.join(names)}{more}}}"
    if isinstance(value, (list, tuple, set)):
        return f"{type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, (bool, int, float)):
        return _short(value)
    return type(value).__name__


def _short(value: Any) -> str:
    from midepoch.errors import show

    return show(value)
