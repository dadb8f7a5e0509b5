"""An adapter's source, folded for one case: what the case does not use is left out (pure text).

Kept lines are the adapter's own, comments included. Fields of the workload and the execution that
are the same in all sessions are written out, tests of them are decided, and what nobody names
any more is dropped. Where anything is in doubt it is kept.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from midepoch_conformance.scripts.handing import parameters
from midepoch_conformance.scripts.nodes import (
    COMPARED,
    UNKNOWN,
    gives,
    holds_long_text,
    is_plain,
    pairs,
    run_now,
    tried,
)
from midepoch_conformance.scripts.unused import unused_lines

__all__ = ["Facts", "fold"]


@dataclasses.dataclass(frozen=True)
class Facts:
    """What is known of a case.

    Attributes:
        attribute: the adapter's name in its module.
        workload: fields of the workload that are the same in all sessions.
        execution: fields of the execution that are.
        used: the session's methods that are called.
        notes: whether the calls that the workload notes are looked at.
        row: what stands for ``w.row(i, rng)``, with places for ``{i}`` and ``{rng}``; empty
            where the call has to stay.
        expressions: what stands for other methods of the workload, by name: a name in the
            place of the method's, or an expression of its call, with places for arguments.
    """

    attribute: str
    workload: Mapping[str, Any]
    execution: Mapping[str, Any]
    used: frozenset[str]
    notes: bool = False
    row: str = ""
    expressions: Mapping[str, str] = dataclasses.field(default_factory=dict)


def fold(source: str, facts: Facts) -> str:
    """Return ``source`` without what the case does not use.

    Example:
        >>> text = '''class Map: ...
        ... class Stream: ...
        ... class Adapter:
        ...     def offer(self):
        ...         return {}
        ...
        ...     def open(self, w, x, root):
        ...         return {"map": Map, "iterable": Stream}[w.kind](w, x.workers)
        ... '''
        >>> facts = Facts("Adapter", {"kind": "map"}, {"workers": 2}, frozenset({"epoch"}))
        >>> print(fold(text, facts))
        class Map: ...
        class Adapter:
            def open(self, w, x, root):
                return Map(w, 2)
    """
    text, before = source.strip("\n"), ""
    names = parameters(text)
    while text != before:
        before = text
        if names is not None:
            text = _changed(text, _Decisions(text, facts, names).edits())
        # What is dropped early need not be looked at again.
        text = _changed(text, unused_lines(text, facts.attribute, facts.used))
    return text


def _changed(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Apply edits together where they leave a whole text, else the first one that does."""
    found = list(edits)
    for chosen in (_apart(found), *([edit] for edit in found)):
        data = text.encode()
        for start, end, put in reversed(chosen):
            data = data[:start] + put.encode() + data[end:]
        after = data.decode()
        if after != text and _parses(after):
            return after
    return text


def _apart(edits: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return edits none of which touches another's place, in their order in the text."""
    chosen: list[tuple[int, int, str]] = []
    for edit in edits:
        if all(edit[1] < start or end < edit[0] for start, end, _ in chosen):
            chosen.append(edit)
    return sorted(chosen)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


class _Decisions:
    """Finds in a text what the facts decide."""

    def __init__(self, text: str, facts: Facts, names: tuple[str, str]) -> None:
        self.text, self.tree = text, ast.parse(text)
        self.lines = text.splitlines()
        self.facts = facts
        self.known = dict(zip(names, (dict(facts.workload), dict(facts.execution)), strict=True))
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                for fields in self.known.values():
                    fields.pop(node.attr, None)
        self.held = {name for name in names if self._is_held(name)}

    def edits(self) -> Iterator[tuple[int, int, str]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.If):
                yield from self._if(node)
            elif isinstance(node, ast.Expr) and not self.facts.notes:
                yield from self._note(node)
            elif isinstance(node, ast.Return):
                yield from self._after(node)
            elif isinstance(node, ast.Assign):
                yield from self._idle(node)
            elif isinstance(node, ast.expr) and not self._in_text(node):
                yield from self._expression(node)

    # Statements.

    def _if(self, node: ast.If) -> Iterator[tuple[int, int, str]]:
        value = self._value(node.test)
        if value is UNKNOWN or holds_long_text(node):
            return
        chained = self._line(node.lineno).lstrip().startswith("elif")
        stays = node.body if value else node.orelse
        end = self._end(node)
        if not stays:
            if chained or not self._is_alone(node):
                yield self._at(node.lineno), end, ""
            return
        first, last = stays[0].lineno, stays[-1].end_lineno or stays[-1].lineno
        indent = " " * node.col_offset
        if not value and self._line(first).lstrip().startswith("elif"):
            # The rest of the chain takes the place of its head.
            word = "elif" if chained else "if"
            rest = self._line(first).lstrip().removeprefix("elif")
            kept = [f"{indent}{word}{rest}", *self.lines[first:last]]
        elif first == node.lineno:
            return
        elif chained:
            kept = [f"{indent}else:", *self.lines[first - 1 : last]]
        else:
            shift = stays[0].col_offset - node.col_offset
            kept = [line[shift:] for line in self.lines[first - 1 : last]]
        yield self._at(node.lineno), end, "\n".join(kept) + "\n"

    def _is_alone(self, node: ast.stmt) -> bool:
        parent = self.parents[node]
        return any(getattr(parent, block, None) == [node] for block in _BLOCKS)

    def _note(self, node: ast.Expr) -> Iterator[tuple[int, int, str]]:
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return
        if call.func.attr == "note" and self._owner(call.func) and not self._is_alone(node):
            yield self._at(node.lineno), self._end(node), ""

    def _after(self, node: ast.Return) -> Iterator[tuple[int, int, str]]:
        """Yield what follows a ``return`` in its block."""
        block = next(
            (b for name in _BLOCKS if node in (b := getattr(self.parents[node], name, []))), []
        )
        rest = block[block.index(node) + 1 :]
        if rest and not isinstance(self.parents[node], ast.Module):
            yield self._at(rest[0].lineno), self._end(rest[-1]), ""

    def _idle(self, node: ast.Assign) -> Iterator[tuple[int, int, str]]:
        """Yield a local name's assignment, where nobody asks for it and it does nothing else."""
        function = self.parents[node]
        name = node.targets[0]
        if not isinstance(function, ast.FunctionDef) or not isinstance(name, ast.Name):
            return
        named = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == name.id]
        calls = any(isinstance(n, ast.Call) for n in run_now(node.value))
        if named == [name] and not calls and not self._is_alone(node):
            yield self._at(node.lineno), self._end(node), ""

    # Expressions.

    def _expression(self, node: ast.expr) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.IfExp):
            value = self._value(node.test)
            if value is not UNKNOWN:
                yield self._put(node, self._whole(node.body if value else node.orelse))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from self._entry(node, node.value, node.slice, None)
        elif isinstance(node, ast.Call):
            yield from self._call(node)
        elif isinstance(node, (ast.Attribute, ast.Compare, ast.UnaryOp, ast.BoolOp, ast.Name)):
            value = self._value(node)
            if isinstance(node, ast.Attribute) and self._said(node).isidentifier():
                yield self._put(node, self._said(node))
            elif not isinstance(self.parents[node], ast.Attribute) and is_plain(value):
                text = repr(value)
                yield self._put(node, text if '"' in text else text.replace("'", '"'))

    def _entry(
        self, node: ast.expr, display: ast.expr, name: ast.expr, other: ast.expr | None
    ) -> Iterator[tuple[int, int, str]]:
        """Yield the entry of a dict display, or of a name that stands for one."""
        if isinstance(display, ast.Name):
            assigned = self._assigned(display)
            display = display if assigned is None else assigned
        key = self._value(name)
        if key is UNKNOWN or not isinstance(display, ast.Dict):
            return
        keys = [k.value if isinstance(k, ast.Constant) else UNKNOWN for k in display.keys]
        chosen = other if key not in keys else display.values[keys.index(key)]
        if UNKNOWN not in keys and keys.count(key) < 2 and chosen is not None:
            yield self._put(node, self._whole(chosen))

    def _call(self, node: ast.Call) -> Iterator[tuple[int, int, str]]:
        said = self._said(node.func) if isinstance(node.func, ast.Attribute) else ""
        if said and "{" not in said and not said.isidentifier():
            yield self._put(node, said)
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            return
        texts = [self._segment(argument) for argument in node.args]
        if isinstance(node.func, ast.Lambda) and not texts and not node.func.args.args:
            yield self._put(node, self._whole(node.func.body))
        elif isinstance(node.func, ast.Attribute):
            if node.func.attr == "get" and len(texts) == 2:
                yield from self._entry(node, node.func.value, *node.args)
            ours = node.func.attr == "row" and self._owner(node.func)
            if ours and self.facts.row and len(texts) > self.facts.row.count("{rng}"):
                rng = texts[1] if len(texts) > 1 else ""
                yield self._put(node, self.facts.row.format(i=texts[0], rng=rng))
            elif "{0}" in said and len(texts) == 1:
                whole = self._whole(node.args[0]) if said.startswith("{0}") else texts[0]
                yield self._put(node, said.format(whole))

    def _said(self, node: ast.Attribute) -> str:
        """Return what stands for a method of the workload, of whatever object that is a part."""
        owner = node.value
        part = isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name)
        held = part and isinstance(owner, ast.Attribute) and owner.attr in self.held
        loaded = isinstance(node.ctx, ast.Load)
        said = self.facts.expressions.get(node.attr, "")
        return said if loaded and (held or self._owner(node)) else ""

    def _assigned(self, name: ast.Name) -> ast.expr | None:
        """Return what a name was given, if that was done once, before, and in plain sight."""
        scope: ast.AST = name
        while scope in self.parents:
            scope = self.parents[scope]
            if isinstance(scope, (ast.FunctionDef, ast.Module)):
                given = [n for n in ast.walk(scope) if gives(n, name.id)]
                if isinstance(scope, ast.FunctionDef) and not given:
                    continue
                at = self.parents.get(given[0]) if len(given) == 1 else None
                plain = isinstance(at, ast.Assign) and len(at.targets) == 1
                if plain and isinstance(at, ast.Assign) and at in scope.body:
                    later = isinstance(scope, ast.Module) or at.lineno < name.lineno
                    return at.value if later else None
                return None
        return None

    def _put(self, node: ast.expr, text: str) -> tuple[int, int, str]:
        start, end = self._span(node)
        data = self.text.encode()
        around = data[start - 1 : start] + data[end : end + 1]
        before = data[:start].rstrip(b"(")[-1:]
        if around == b"()" and text.isidentifier() and not (before.isalnum() or before in b"_)]"):
            start, end = start - 1, end + 1
        return start, end, text

    def _value(self, node: ast.expr) -> Any:
        """Return what an expression comes to, or ``UNKNOWN``."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            values = tuple(map(self._value, node.elts))
            return UNKNOWN if UNKNOWN in values else values
        if isinstance(node, ast.Attribute):
            fields = self.known.get(self._owner(node), {})
            return fields.get(node.attr, UNKNOWN)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            given = self._assigned(node) if self._is_local(node) else None
            return given.value if isinstance(given, ast.Constant) else UNKNOWN
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self._value(node.operand)
            return value if value is UNKNOWN else not value
        if isinstance(node, ast.BoolOp):
            return self._joined(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            pair = self._value(node.left), self._value(node.comparators[0])
            compare = COMPARED[type(node.ops[0])]
            return UNKNOWN if UNKNOWN in pair else tried(compare, *pair)
        return UNKNOWN

    def _joined(self, node: ast.BoolOp) -> Any:
        for operand in node.values:
            value = self._value(operand)
            if value is UNKNOWN:
                return UNKNOWN
            if bool(value) == isinstance(node.op, ast.Or):
                return value
        return value

    def _owner(self, node: ast.Attribute) -> str:
        """Return whose attribute it is, the workload's or the execution's; empty if neither's."""
        owner = node.value
        if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
            own = owner.value.id == "self" and owner.attr in self.held
            return owner.attr if own else ""
        if isinstance(owner, ast.Name) and owner.id in self.known:
            return owner.id if self._is_given(owner) else ""
        return ""

    def _is_given(self, name: ast.Name) -> bool:
        """Return whether a name is a parameter here, and nothing else."""
        node: ast.AST = name
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                arguments = {a.arg for a in node.args.args}
                stored = {
                    n.id
                    for n in ast.walk(node)
                    if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
                }
                if name.id in stored:
                    return False
                if name.id in arguments:
                    return isinstance(node, ast.FunctionDef)
        return False

    def _is_held(self, name: str) -> bool:
        """Return whether ``self.NAME`` is the parameter of that name wherever it is set."""
        assigned = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assign)]
        given = [pair for node in assigned for t in node.targets for pair in pairs(t, node.value)]
        values = [v for t, v in given if isinstance(t, ast.Attribute) and t.attr == name]
        return bool(values) and all(isinstance(v, ast.Name) and v.id == name for v in values)

    def _is_local(self, name: ast.Name) -> bool:
        """Return whether a name is one of a function's own, given there."""
        node: ast.AST = name
        while node in self.parents and not isinstance(node, ast.FunctionDef):
            node = self.parents[node]
        return isinstance(node, ast.FunctionDef) and any(gives(n, name.id) for n in ast.walk(node))

    # The text.

    def _in_text(self, node: ast.AST) -> bool:
        """Return whether a node is in a formatted text, where places are not what they seem."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, ast.JoinedStr):
                return True
        return False

    @functools.cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.text.encode().split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def _at(self, line: int, column: int = 0) -> int:
        return self._starts[line - 1] + column

    def _end(self, node: ast.stmt) -> int:
        return min(self._at((node.end_lineno or node.lineno) + 1), len(self.text.encode()))

    def _span(self, node: ast.expr) -> tuple[int, int]:
        last, column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._at(node.lineno, node.col_offset), self._at(last, column)

    def _segment(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self.text.encode()[start:end].decode()

    def _whole(self, node: ast.expr) -> str:
        """Return a node's text so that it stays one whole wherever it is put."""
        text = self._segment(node)
        return f"({text})" if isinstance(node, _LOOSE) else text

    def _line(self, number: int) -> str:
        return self.lines[number - 1]


_LOOSE = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.BinOp, ast.Compare, ast.UnaryOp, ast.Await)
"""Expressions that may come apart when they are put into another one."""

_BLOCKS = ("body", "orelse", "finalbody")
