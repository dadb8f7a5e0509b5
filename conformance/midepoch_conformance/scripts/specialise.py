"""Specialises source text for known facts: what is decided or unreached goes (pure).

The same function makes the adapter's and the data's lines of a script. Attributes whose values
are known become constants, decided conditions, tables and empty ``**{}`` go, and so does what
nothing reaches: definitions, methods and imports. Comments and annotations are not kept.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

__all__ = ["Part", "defined", "mentioned", "specialise"]

SUITE = "midepoch_conformance"

_PLAIN = (int, float, str, bool, type(None), tuple)
_Node = TypeVar("_Node", bound=ast.AST)
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclasses.dataclass(frozen=True)
class Part:
    """A module's text and what is known in it."""

    text: str
    facts: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    """Of a variable's name, or of ``self.name``, the attributes with their values."""

    values: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Of a variable's name, its value."""

    foreign: bool = False
    """Whether its names give way to those of the suite."""


def specialise(
    parts: Sequence[Part],
    roots: Collection[str],
    asked: Collection[str],
    taken: Collection[str] = (),
) -> list[str]:
    """Return the imports that all parts need, and the rest of each part.

    Args:
        parts: the modules. They use each other's names; imports of the suite's modules go.
        roots: the names that are reached from outside.
        asked: the methods that are called from outside.
        taken: names that no foreign part may have; it gets others in their place.

    Example:
        >>> text = '''
        ... def order(w):
        ...     if w.shuffle:
        ...         return {"shuffle": True}
        ...     return {"batch": w.size}
        ... '''
        >>> print(specialise([Part(text, {"w": {"shuffle": False, "size": 4}})], {"order"}, ())[1])
        def order(w):
            return {'batch': 4}
    """
    trees = [_parsed(part.text) for part in parts]
    parts = [_certain(part, tree) for part, tree in zip(parts, trees, strict=True)]
    _rename(trees, parts, set(taken))
    while True:
        before = [ast.dump(tree) for tree in trees]
        tables = {name: value for tree in trees for name, value in _tables(tree)}
        for tree, part in zip(trees, parts, strict=True):
            _Fold(part, tables).visit(tree)
        _drop_idle(trees, parts, asked)
        _fill(trees)
        _shake(trees, parts, {*roots, *(f".{name}" for name in asked)})
        if [ast.dump(tree) for tree in trees] == before:
            break
    imports = [node for tree in trees for node in tree.body if _is_import(node)]
    for tree in trees:
        tree.body = [node for node in tree.body if not _is_import(node)]
    lines = dict.fromkeys(ast.unparse(node) for node in imports)
    texts = [_spaced(tree) for tree in trees]
    return ["\n".join(sorted(lines, key=lambda line: line.startswith("from"))), *texts]


def defined(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, (ast.ClassDef, *_Function)):
        return {node.name}
    if isinstance(node, ast.Assign):
        names = (n for target in node.targets for n in ast.walk(target))
        return {n.id for n in names if _is_stored(n)}  # type: ignore[attr-defined]  # a name
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    return set()


def mentioned(node: ast.AST, inside: frozenset[str] = frozenset()) -> set[str]:
    """Return what a node asks for: names that are not its own, and attributes.

    An attribute is ``.name``, or ``self.name`` where it is the object's own.

    Example:
        >>> sorted(mentioned(ast.parse("def f(a): return a.b + c")))
        ['.b', 'c']
    """
    found: set[str] = set()
    if isinstance(node, (*_Function, ast.Lambda)):
        inside |= {n.arg for n in ast.walk(node.args) if isinstance(n, ast.arg)}
        if not isinstance(node, ast.Lambda):
            inside |= {n.id for n in ast.walk(node) if _is_stored(n)}  # type: ignore[attr-defined]
    if isinstance(node, ast.Name) and node.id not in inside:
        found.add(node.id)
    elif isinstance(node, ast.Attribute):
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        found.add(f"{'self' * own}.{node.attr}")
    for child in ast.iter_child_nodes(node):
        found |= mentioned(child, inside)
    return found


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


# Before anything is known


def _parsed(text: str) -> ast.Module:
    """Return the tree without annotations, imports of the suite, and what speaks of the file."""
    tree: ast.Module = _Bare().visit(ast.parse(text))
    tree.body = [node for node in tree.body if not _is_said(node) and not _is_of_the_suite(node)]
    tree.body = [node for node in tree.body if defined(node) != {"__all__"}]
    return ast.fix_missing_locations(tree)


class _Bare(ast.NodeTransformer):
    """Takes annotations away, docstrings but for their first line, and the suite's prefixes."""

    def __init__(self) -> None:
        self.modules: set[str] = set()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        if (node.module or "").partition(".")[0] == SUITE:
            self.modules |= {a.asname or a.name for a in node.names}
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id in self.modules & _MODULES:
            return ast.Name(node.attr, node.ctx)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        first = node.body[0]
        if _is_said(first):
            line = first.value.value.strip().partition("\n")[0]  # type: ignore[attr-defined]
            node.body[0] = ast.Expr(ast.Constant(line))
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        body = [n for i, n in enumerate(node.body) if not (i and _is_said(n))]
        node.body = body or [ast.Pass()]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value is not None else None


_MODULES = {"torch_data", "sources", "trees", "tampering"}
"""Modules of the suite whose names other modules reach through the module's own."""


def _is_said(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _is_of_the_suite(node: ast.stmt) -> bool:
    if not isinstance(node, ast.ImportFrom):
        return False
    return (node.module or "").partition(".")[0] in (SUITE, "__future__")


def _certain(part: Part, tree: ast.Module) -> Part:
    """Return the part without the variables that are assigned: they may be something else."""
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    facts = {name: known for name, known in part.facts.items() if name not in stored}
    values = {name: value for name, value in part.values.items() if name not in stored}
    return dataclasses.replace(part, facts=facts, values=values)


def _rename(trees: Sequence[ast.Module], parts: Sequence[Part], taken: set[str]) -> None:
    """Give other names to what is foreign and has a name that is taken."""
    for tree, part in zip(trees, parts, strict=True):
        taken |= _defined(tree) if not part.foreign else set()
    foreign = [tree for tree, part in zip(trees, parts, strict=True) if part.foreign]
    names = taken & {name for tree in foreign for name in _defined(tree)}
    for tree in foreign:
        _Renamer({name: f"{name}_" for name in names}).visit(tree)


def _defined(tree: ast.Module) -> set[str]:
    return {name for node in tree.body if not _is_import(node) for name in defined(node)}


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self.names.get(node.arg, node.arg)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)


# Deciding what can be decided


class _Fold(ast.NodeTransformer):
    """Puts constants in, and drops what they decide."""

    def __init__(self, part: Part, tables: Mapping[str, ast.expr]) -> None:
        self.part, self.tables = part, tables

    def visit_Name(self, node: ast.Name) -> ast.AST:
        known = node.id in self.part.values and isinstance(node.ctx, ast.Load)
        return _constant(self.part.values[node.id]) if known else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        facts = self.part.facts.get(_owner(node), {})
        if not isinstance(node.ctx, ast.Load) or node.attr not in facts:
            return node
        value = facts[node.attr]
        return _constant(value) if isinstance(value, _PLAIN) else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        return _evaluated(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _evaluated(node) if isinstance(node.op, ast.Not) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        either = isinstance(node.op, ast.Or)
        left: list[ast.expr] = []
        for number, value in enumerate(node.values):
            known, truth = _known(value)
            if not known or (bool(truth) == either) or number == len(node.values) - 1:
                left.append(value)
            if known and bool(truth) == either:
                break
        # A constant at the end decides nothing more where something else comes before it.
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        known, truth = _known(node.test)
        return (node.body if truth else node.orelse) if known else node

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        known, truth = _known(node.test)
        if known:
            return node.body if truth else node.orelse
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        named = isinstance(node.value, ast.Name)
        table = self.tables.get(node.value.id) if isinstance(node.value, ast.Name) else node.value
        known, key = _known(node.slice)
        if not known or not isinstance(node.ctx, ast.Load):
            return node
        if isinstance(table, ast.Dict):
            for name, value in zip(table.keys, table.values, strict=True):
                if name is not None and _known(name) == (True, key):
                    return copy.deepcopy(value)
        elif not named and _known(table or node)[0]:
            return _evaluated(node)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        pairs = [p for p in zip(node.keys, node.values, strict=True) if not _is_nothing(*p)]
        node.keys, node.values = [key for key, _ in pairs], [value for _, value in pairs]
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [k for k in node.keywords if k.arg or not _is_nothing(None, k.value)]
        named = isinstance(node.func, ast.Name) and node.func.id == "bool"
        known, value = _known(node.args[0]) if named and node.args else (False, None)
        return ast.Constant(bool(value)) if known else node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        items = _few(node.iter, node.target)
        leaps = any(isinstance(n, (ast.Break, ast.Continue)) for n in ast.walk(node))
        if items is None or leaps:
            return node
        bodies = (_with(part, node.target, item) for item in items for part in node.body)
        return [*bodies, *node.orelse]

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        each = node.generators[0]
        items = _few(each.iter, each.target)
        if items is None or len(node.generators) > 1 or each.ifs:
            return node
        return ast.List([_with(node.elt, each.target, item) for item in items], ast.Load())

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        return _ended(node)


def _owner(node: ast.Attribute) -> str:
    """Return the variable whose attribute it is: ``w`` of ``w.n`` and of ``self.w.n``."""
    value = node.value
    if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name):
        return value.attr if value.value.id == "self" else ""
    return value.id if isinstance(value, ast.Name) else ""


def _constant(value: Any) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def _known(node: ast.AST) -> tuple[bool, Any]:
    try:
        return True, ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        return False, None


def _evaluated(node: _Node) -> _Node | ast.expr:
    """Return what an operation on constants comes to; as it is where it is on something else."""
    parts = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
    if not all(_known(part)[0] for part in parts):
        return node
    code = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))  # type: ignore[arg-type]
    with warnings.catch_warnings(), contextlib.suppress(TypeError, LookupError):
        warnings.simplefilter("ignore", SyntaxWarning)  # comparing two literals is no mistake here
        return _constant(eval(compile(code, "constants", "eval")))
    return node


_FEW = 4
"""Rounds of a loop that may stand one after the other."""


def _few(items: ast.expr, target: ast.expr) -> list[Any] | None:
    """Return what is known to be gone through, where that is little."""
    known, values = _known(items)
    named = isinstance(target, ast.Name) and isinstance(values, (tuple, list))
    return list(values) if known and named and len(values) <= _FEW else None


def _with(node: _Node, target: ast.expr, value: Any) -> _Node:
    """Return a copy of a node with a value in the place of a variable."""
    part = Part("", values={target.id: value} if isinstance(target, ast.Name) else {})
    return _Fold(part, {}).visit(copy.deepcopy(node))  # type: ignore[no-any-return]


def _is_nothing(key: ast.expr | None, value: ast.expr) -> bool:
    return key is None and isinstance(value, ast.Dict) and not value.keys


def _ended(node: ast.FunctionDef) -> ast.FunctionDef:
    """Return the function up to its end, and without a name for what it returns at once."""
    for number, statement in enumerate(node.body):
        if isinstance(statement, (ast.Return, ast.Raise)):
            del node.body[number + 1 :]
            break
    *_, before, last = [None, None, *node.body]
    if isinstance(before, ast.Assign) and isinstance(last, ast.Return):
        target, value = before.targets[0], last.value
        same = isinstance(target, ast.Name) and isinstance(value, ast.Name)
        if same and ast.unparse(target) == ast.unparse(last).removeprefix("return "):
            node.body[-2:] = [ast.Return(before.value)]
    return node


def _tables(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            yield from ((name, node.value) for name in defined(node))


# Dropping what nothing needs


def _drop_idle(trees: Sequence[ast.Module], parts: Sequence[Part], asked: Collection[str]) -> None:
    """Drop the calls of the suite's methods that do nothing any more."""
    busy, idle = set(asked), set[str]()
    for tree, part in zip(trees, parts, strict=True):
        for function in (n for n in ast.walk(tree) if isinstance(n, _Function)):
            (busy if part.foreign or not _is_idle(function) else idle).add(function.name)
    for tree in trees:
        _Silencer(idle - busy).visit(tree)


def _is_idle(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return all(_is_said(node) or isinstance(node, ast.Pass) for node in function.body)


class _Silencer(ast.NodeTransformer):
    def __init__(self, idle: Collection[str]) -> None:
        self.idle = idle

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        call = node.value
        method = call.func if isinstance(call, ast.Call) else None
        return None if isinstance(method, ast.Attribute) and method.attr in self.idle else node


def _fill(trees: Sequence[ast.Module]) -> None:
    """Give a body to what has lost its own."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        if not isinstance(node, ast.Module) and getattr(node, "body", None) == []:
            node.body = [ast.Pass()]  # type: ignore[attr-defined]  # it has one


def _shake(trees: Sequence[ast.Module], parts: Sequence[Part], roots: set[str]) -> None:
    """Drop what ``roots`` do not reach: definitions, imports, and methods that nobody names."""
    body = [node for tree in trees for node in tree.body]
    known = {node.name for node in body if isinstance(node, ast.ClassDef)}
    reached, before = roots, set[str]()
    while reached != before:
        before = set(reached)
        for tree, part in zip(trees, parts, strict=True):
            for node in (n for n in tree.body if _is_reached(n, before) and not _is_import(n)):
                methods = _unreached(node, known, reached, part)
                for child in ast.iter_child_nodes(node) if methods else [node]:
                    said = mentioned(child) if child not in methods else set()
                    # What is the object's own is of a class in the same module.
                    reached |= {f"{_group(part)}{n}" if n[:5] == "self." else n for n in said}
    for tree, part in zip(trees, parts, strict=True):
        tree.body = [node for node in tree.body if _is_reached(node, reached)]
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                methods = _unreached(node, known, reached, part)
                node.body = [m for m in node.body if m not in methods] or [ast.Pass()]
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [a for a in node.names if (a.asname or a.name).split(".")[0] in reached]
                node.names = names


def _group(part: Part) -> str:
    return "foreign " if part.foreign else f"{id(part)} "


def _is_reached(node: ast.stmt, reached: Collection[str]) -> bool:
    return not defined(node) or not defined(node).isdisjoint(reached)


def _unreached(
    node: ast.stmt, known: Collection[str], reached: Collection[str], part: Part
) -> list[ast.stmt]:
    """Return the methods of a class that nothing reaches.

    A class that is derived from one of another module keeps its methods: that may call them.
    """
    if not isinstance(node, ast.ClassDef) or any(_name(base) not in known for base in node.bases):
        return []
    named = {name for name in reached if name[0] == "."}
    named |= {name.partition("self")[2] for name in reached if name.startswith(_group(part))}
    methods = [member for member in node.body if isinstance(member, _Function)]
    return [m for m in methods if f".{m.name}" not in named and not m.name.endswith("__")]


def _name(base: ast.expr) -> str:
    return base.id if isinstance(base, ast.Name) else ""


def _spaced(tree: ast.Module) -> str:
    """Return the source, with blank lines around classes and functions."""
    lines: list[str] = []
    apart = False
    for node in ast.fix_missing_locations(tree).body:
        large = isinstance(node, (ast.ClassDef, *_Function))
        lines += ["", ""] if lines and (large or apart) else []
        lines.append(ast.unparse(node))
        apart = large
    return "\n".join(lines)
