"""The case's data in a failure's script: what the adapter asks of the workload (pure text).

Only what is asked for is written out, as functions and classes of a few lines. What the
workload says for all cases is in ``workload.py`` and ``sources.py``: tests hold the two together.
"""

from __future__ import annotations

import dataclasses
import re
import textwrap
from collections.abc import Mapping, Sequence, Set
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.sources import GENERATORS, SAMPLERS
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.scripts.script_classes import sampler_text, stateful_text, tree_text
from midepoch_conformance.scripts.script_sources import source_text, stream_head, stream_text

__all__ = [
    "FAULTS",
    "Data",
    "asked_for",
    "data_of",
    "everything",
    "quoted",
    "row_text",
    "state_expressions",
    "workload_facts",
]

_WIDTH = 100

FAULTS = ("fail_at", "stop_at", "die_at")
"""Fields of a workload that name a sample that goes wrong."""

_METHODS = frozenset(
    {
        "row", "note", "stream_of", "source", "iterator", "order", "length", "dataset_state",
        "dataset_position",
    }
)  # fmt: skip

_DRAWS = {
    "python": "random.random()",
    "numpy": "float(numpy.random.random())",
    "torch": "float(torch.rand(()))",
    "own": "{rng}()",
}


@dataclasses.dataclass(frozen=True)
class Data:
    """The data of a script.

    Attributes:
        blocks: functions and classes, each a list of lines.
        members: what the adapter asks of the object that it is handed, by name: expressions.
        bare: whether a source is made without arguments.
    """

    blocks: tuple[list[str], ...]
    members: dict[str, str]
    bare: bool = False

    @property
    def expressions(self) -> dict[str, str]:
        """What an adapter may hold in the place of what it asks for by methods."""
        made = {"source": "Source()"} if self.bare else {}
        return {n: text for n, text in self.members.items() if n in _METHODS} | made


def quoted(value: object) -> str:
    """Return the source of a value, texts in double quotes where that is safe."""
    text = repr(value)
    return text if '"' in text or "\\" in text else text.replace("'", '"')


def workload_facts(w: Workload) -> dict[str, Any]:
    """Return all that a workload says of itself by a plain value."""
    fields = {field.name: getattr(w, field.name) for field in dataclasses.fields(w)}
    return fields | {
        name: getattr(w, name) for name in ("form", "whole", "private", "subset", "weights")
    }


def state_expressions(w: Workload, calls: bool) -> dict[str, str]:
    """Return what stands for a dataset's state and for its position in one, where it is short.

    Example:
        >>> state_expressions(Workload("stateful_iterable"), calls=False)["dataset_position"]
        '{0}["position"]'
    """
    if calls or w.tree:
        return {}
    return {"dataset_state": '{{"position": {0}}}', "dataset_position": '{0}["position"]'}


def row_text(w: Workload, calls: bool) -> str:
    """Return what stands for ``w.row(i, rng)``: the row, or a call where a sample does more.

    Example:
        >>> row_text(Workload(draws=("python",)), calls=False)
        '[{i}, random.random()]'
    """
    if calls or w.gate or any(getattr(w, fault) not in (None, -1) for fault in FAULTS):
        return "row({i}, {rng})" if "own" in w.draws else "row({i})"
    if w.width > 1:
        return f"numpy.full({w.width}, {{i}})"
    draws = [_DRAWS[name] for name in w.draws if name not in GENERATORS]
    return f"[{', '.join(['{i}', *draws])}]"


def everything(w: Workload) -> set[str]:
    """Return all that an adapter may ask for, where it is not known what it does ask for."""
    plain = {"row", "note", *workload_facts(w), *dataclasses.asdict(Execution())}
    more = {"stateful_iterable": {"dataset_state", "dataset_position"}}
    made = more.get(w.form, set() if w.form in ("map", "files") else {"source", "iterator"})
    made = {"stream_of", "source"} if w.form in ("iterable", "stream") else made
    own = {"order"} if w.sampler in SAMPLERS else set()
    longer = {"length"} if w.grow or w.sampler == "distributed" else set()
    unsaid = {*FAULTS, "die_once", "log", "gate", "epochs"}
    return (plain | made | own | longer) - unsaid


def asked_for(source: str, names: tuple[str, str] | None) -> set[str]:
    """Return the attributes of the workload and the execution that ``source`` looks at.

    ``names``: what they are called in it; None where that is not known.
    """
    owner = rf"\b(?:{'|'.join(names)})\." if names else r"\."
    known = {*workload_facts(Workload()), *dataclasses.asdict(Execution())}
    return set(re.findall(rf"{owner}(\w+)", source)) & (_METHODS | known)


def data_of(
    w: Workload,
    values: Mapping[str, Any],
    asked: Set[str],
    calls: bool,
    faulty: Sequence[str] = (),
    *,
    bare: bool = False,
    word: str = "",
    checked: bool = True,
    plain: bool = False,
    loads: bool = True,
) -> Data:
    """Return the data that ``asked`` names.

    Args:
        w: the workload.
        values: fields that are the same in all sessions; the others are a session's own.
        asked: what the adapter asks for, once it is folded.
        calls: whether fetches and calls are noted.
        faulty: the sessions in which a sample goes wrong, where they are not all.
        bare: whether a source is made without arguments, where it needs none.
        word: what is counted of what is noted; all is noted where that is not known.
        checked: whether a state is looked at that comes back to a dataset.
        plain: whether no pass of a sampler is broken off or overtaken by another.
        loads: whether a state is ever loaded.
    """
    row = row_text(w, calls)
    told = calls and word != "fetch"
    bare = bare and w.kind == "stateful_map" and not w.private and "own" not in w.draws
    bare = bare and w.fail_at != -1
    blocks: list[list[str]] = [_NOTE] if calls else []
    same = sorted(asked & set(values) - _METHODS)
    members = {name: quoted(_short(name, w, values[name])) for name in same}
    wanted = asked & _METHODS
    made = "iterator" if w.form in ("iterator state", "both states") else "source"
    # Who asks for the one and the other of a dataset without a state is handed both.
    both = w.form in ("iterable", "stream") and "source" in wanted and "stream_of" in wanted
    if w.form in ("iterable", "stream") and "source" not in wanted:
        made = "stream_of"
    wanted -= {"source", "iterator", "stream_of"} - {made} - ({"stream_of"} if both else set())
    if "note" in wanted:
        members["note"] = "note" if told else "str"
    if "row" in wanted or (row.startswith("row(") and wanted):
        blocks.append(_row(w, calls, faulty))
    if w.tree and wanted & {made, "dataset_state"}:
        blocks.append(tree_text(w.tree))
    names = {"source": "Source", "iterator": "Source", "order": "Sampler"}
    parts: list[list[str]] = []
    shared = False
    if made in wanted:
        if made == "stream_of":
            parts = stream_text(w, row)
        else:
            shared = bare and w.sampler == "stateful" and not (w.tree or told)
            parts = source_text(
                w, row, told, bare=bare, shared=shared, checked=checked,
                loads=loads or made == "iterator",
            )  # fmt: skip
            blocks += [stateful_text(plain)] if shared else []
    if both:
        parts.append(stream_head())
    if w.fail_at == -1 and faulty and parts and parts[-1][0].startswith("class"):
        begin = next(n for n, line in enumerate(parts[-1]) if "def __init__" in line) + 1
        parts[-1][begin:begin] = [f"    {line}" for line in _failing("", faulty)[1:3]]
        blocks += parts
    elif w.fail_at == -1 and parts:
        made_by = names.get(made, made)
        blocks += [*(parts if faulty else []), _failing(made_by, faulty)]
        names |= {made: "set_up"}
    else:
        blocks += parts
    if "order" in wanted:
        blocks.append(sampler_text(w, shared, plain))
    if "length" in wanted:
        blocks.append(["def length(epoch):", f"    return max(0, {w.n} + {w.grow} * epoch)"])
    if "dataset_state" in wanted:
        blocks += _position(w, told)
    members |= {name: names.get(name, name) for name in sorted(wanted - {"note"})}
    return Data(tuple(_fitting(block) for block in blocks), members, bare and made in wanted)


def _short(name: str, w: Workload, value: object) -> object:
    """Return a list for a sampler as it is where that sampler is used, else a short one."""
    used = {"subset": "subset", "weights": "weighted"}
    return [1] if name in used and w.sampler != used[name] else value


def _fitting(block: list[str]) -> list[str]:
    """Return the lines of a block, those that are too long as several."""
    lines: list[str] = []
    for line in block:
        indent = line[: len(line) - len(line.lstrip())]
        lines += textwrap.wrap(
            line, _WIDTH, subsequent_indent=f"{indent}        ", break_long_words=False,
            break_on_hyphens=False, drop_whitespace=True,
        ) or [""]  # fmt: skip
    return lines


_NOTE = ["def note(what):", '    print(what, file=open(sys.argv[1] + ".log", "a"))']


def _row(w: Workload, calls: bool, faulty: Sequence[str]) -> list[str]:
    acts = {
        "fail_at": f'raise RuntimeError("sample {w.fail_at} fails on purpose")',
        "stop_at": "raise StopIteration",
        "die_at": "os.kill(os.getpid(), signal.SIGKILL)",
    }
    once = ' and not os.path.exists("died")' if w.die_once else ""
    there = f" and sys.argv[1] in {quoted(tuple(faulty))}" if faulty else ""
    lines = ["def row(i, rng=None):"]
    if calls:
        lines.append('    note(f"fetch {i}")')
    if w.gate:
        there = f'os.path.exists(f"{{sys.argv[1]}} {w.gate[1]}")'
        lines += [
            '    pathlib.Path(f"{sys.argv[1]} {i}").touch()',
            "    until = time.monotonic() + 3",
            f"    while i == {w.gate[0]} and time.monotonic() < until and not {there}:",
            "        time.sleep(0.01)",
        ]
    for fault in FAULTS:
        if getattr(w, fault) not in (None, -1):
            lines.append(f"    if i == {getattr(w, fault)}{there}{once}:")
            lines += ['        pathlib.Path("died").touch()'] if once else []
            lines.append(f"        {acts[fault]}")
    whole = dataclasses.replace(w, gate=None, fail_at=None, stop_at=None, die_at=None)
    return [*lines, f"    return {row_text(whole, calls=False).format(i='i', rng='rng')}"]


def _failing(plain: str, faulty: Sequence[str]) -> list[str]:
    """Return the function of a dataset that fails when a lane is set up."""
    error = 'raise RuntimeError("the dataset fails on purpose when it is set up")'
    head = "def set_up(lane=0, lanes=1, rng=None):"
    if not faulty:
        return [head, f"    {error}"]
    there = f"    if sys.argv[1] in {quoted(tuple(faulty))}:"
    return [head, there, f"        {error}", f"    return {plain}(lane, lanes, rng)"]


def _position(w: Workload, calls: bool) -> list[list[str]]:
    tree = ', "tree": tree(position)' if w.tree else ""
    note = ['    note("state_dict")'] if calls else []
    state = f'{{"position": position{tree}}}'
    given = [f"    return {state}"]
    if w.tree == "mutated":
        given = [
            '    held = vars(dataset_state).setdefault("held", {})  # one object, changed in place',
            f"    held.update({state})",
            "    return held",
        ]
    return [
        ["def dataset_state(position):", *note, *given],
        ["def dataset_position(state):", '    return state["position"]'],
    ]
