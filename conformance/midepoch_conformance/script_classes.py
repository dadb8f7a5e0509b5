"""The classes of a case's data in a failure's script: sources, samplers, trees (pure text).

They are those of ``sources.py`` and ``trees.py``: a class and its bases as one, without
docstrings and annotations, with the rows and the numbers of the case written out.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from midepoch_conformance import sources, trees
from midepoch_conformance.workload import Workload

__all__ = ["sampler_text", "source_text", "stream_head", "stream_text", "tree_text"]

_WIDTH = 92
_ARGUMENTS = "lane=0, lanes=1, rng=None"
_STREAM_OF = f"def stream_of({_ARGUMENTS}):"


def stream_text(w: Workload, row: str, calls: bool) -> list[list[str]]:
    """Return the function of a lane's rows, and its class: a pass of an iterable without a state.

    ``row`` stands for a sample's row, with places for ``{i}`` and ``{rng}``.
    """
    if w.stream in ("plain", "uneven", "hollow") and not w.private:
        one = row.format(i="i", rng="rng")
        return [[_STREAM_OF, f"    return ({one} for i in {_share(w)})"]]
    return [*source_text(w, row, calls), stream_head()]


def stream_head() -> list[str]:
    """Return the function of a lane's rows, where there is a class that makes them."""
    return [_STREAM_OF, "    return iter(Source(lane, lanes, rng))"]


def source_text(w: Workload, row: str, calls: bool) -> list[list[str]]:
    """Return the classes that make a dataset's rows and know its state; the last is ``Source``.

    Args:
        w: the workload.
        row: what stands for a sample's row.
        calls: whether the calls of ``state_dict`` are noted.
    """
    made: Any = sources.Counting if w.kind == "stateful_map" else sources.SOURCES[w.stream]
    about = w.form in ("iterator state", "both states")
    stateful = w.kind != "iterable"
    if not w.private and not about:
        return [_merged(made, "Source", w, row, stateful, calls)]
    blocks = [_merged(made, "Rows", w, row, stateful, calls)]
    text, arguments = "Rows(lane, lanes, rng)", _ARGUMENTS
    if w.private:
        generators = [sources.GENERATORS[name] for name in w.private]
        blocks += [_members_text(g, g.__name__) for g in generators]
        blocks.append(_members_text(sources.Private, "Private"))
        listed = ", ".join(f"{g.__name__}({w.seed} + lane)" for g in generators)
        text = f"Private({text}, [{listed}])"
    if about:
        both = w.form == "both states"
        blocks.append(_members_text(sources.RowIterator, "RowIterator"))
        text = f"RowIterator({text}{', dataset' if both else ''})"
        arguments += ", dataset=None" if both else ""
    return [*blocks, [f"def Source({arguments}):", f"    return {text}"]]


def sampler_text(w: Workload) -> list[str]:
    """Return the class of the user's own sampler, as ``Sampler``."""
    text = "\n".join(_members_text(sources.SAMPLERS[w.sampler], "Sampler"))
    for name in ("n", "seed", "batch_size"):
        text = re.sub(rf"\bw\.{name}\b", str(getattr(w, name)), text)
    return text.replace("(self, w)", "(self)").splitlines()


def tree_text(kind: str) -> list[str]:
    """Return the function of the tree that a dataset adds to its state at a position."""
    made = ast.parse(inspect.getsource(trees._MAKERS[kind])).body[0]
    if not isinstance(made, ast.FunctionDef):
        raise TypeError(f"the tree {kind!r} is made by no function")
    lines: list[str] = []
    for statement in made.body:
        text = ast.unparse(statement).replace("_MOST", str(trees._MOST))
        lines += textwrap.wrap(
            text, _WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    return ["def tree(position):", *(f"    {line}" for line in lines)]


def _share(w: Workload) -> str:
    """Return the expression of the samples of one of several lanes."""
    if w.stream == "uneven":
        return f"[i for i in range({w.n}) if min(i % (2 * lanes), lanes) % lanes == lane]"
    ids = f"range({w.n})"
    if w.stream == "hollow":
        return f"({ids}[lane // 2 :: lanes // 2 or 1] if lane % 2 or lanes == 1 else [])"
    # What is cut off the samples of this one is a list, and is used up.
    return f"[*{ids}[lane::lanes]]" if w.stream == "flatten" else f"{ids}[lane::lanes]"


def _merged(made: Any, name: str, w: Workload, row: str, stateful: bool, calls: bool) -> list[str]:
    """Return a source's class, with all that it has of its bases, for the rows of the case."""
    lines = _members_text(made, name, () if stateful else ("state_dict", "load_state_dict"))
    text = "\n".join(lines)
    text = re.sub(
        r"self\.w\.row\((.+?), self\.rng\)",
        lambda found: row.format(i=found[1], rng="self.rng"),
        text,
    )
    text = re.sub(r"\[\*\[(.+?)\], ", r"[\1, ", text)
    tree = r', "tree": tree(\1)' if w.tree else ""
    text = re.sub(r"self\.w\.dataset_state\((.+)\)", rf'{{"position": \1{tree}}}', text)
    if "note(" not in text and calls and stateful:
        text = re.sub(r"( +)def state_dict\(self\):", r'\g<0>\n\1    note("state_dict")', text)
    if w.tree and "self.w.dataset_position(state)" in text:
        text = re.sub(
            r"( +)def load_state_dict\(self, state\):",
            r'\g<0>\n\1    if repr(state["tree"]) != repr(tree(state["position"])):\n'
            r'\1        raise RuntimeError(f"the dataset got another state back: {state}")',
            text,
        )
    text = text.replace("self.w.dataset_position(state)", 'state["position"]')
    # What a script's source is made with is the lane, not its samples.
    text = re.sub(r"def __init__\(self, w.*\):", f"def __init__(self, {_ARGUMENTS}):", text)
    text = re.sub(r"= (w, (?:shard, )?rng, .*)$", r"= (\1)", text, flags=re.M)
    text = text.replace("self.w, self.shard, self.rng, ", "self.shard, self.rng, ")
    text = text.replace("(w, shard, rng, ", f"({_share(w)}, rng, ")
    text = text.replace("self.w, self.rng, ", "self.rng, ").replace("(w, rng, ", "(rng, ")
    if "own" not in w.draws:
        text = text.replace("self.rng, ", "").replace(", rng, ", ", ").replace("(rng, 0)", "0")
    # A line that has to be broken keeps its brackets.
    return [
        n if len(n) > _WIDTH else re.sub(r" = \((.*)\)$", r" = \1", n) for n in text.splitlines()
    ]


def _members_text(made: Any, name: str, without: Sequence[str] = ()) -> list[str]:
    """Return a class and its bases as one, without docstrings and annotations."""
    members: dict[str, ast.stmt] = {}
    for cls in reversed([c for c in made.__mro__ if c is not object]):
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
        if isinstance(tree, ast.ClassDef):
            members |= {_name(node): _bare(node) for node in tree.body if _name(node)}
    lines = [f"class {name}:"]
    for member, node in members.items():
        if member not in without:
            function = isinstance(node, ast.FunctionDef)
            text = ast.unparse(node).replace("'", '"')
            text = re.sub(r"^(\s*[\w.]+(?:, [\w.]+)+ = )\((.*)\)$", r"\1\2", text, flags=re.M)
            lines += [""] if function and len(lines) > 1 else []
            lines += [f"    {line}" for line in text.splitlines()]
    return lines


def _name(node: ast.stmt) -> str:
    """Return what a statement of a class defines; empty where that is nothing."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.unparse(node.target)
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""


def _bare(node: ast.stmt) -> ast.stmt:
    """Return a statement without its annotations and its docstring."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return ast.copy_location(ast.Assign([node.target], node.value), node)
    if isinstance(node, ast.FunctionDef):
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            del node.body[0]
        for inner in ast.walk(node):
            body = getattr(inner, "body", None)
            if isinstance(body, list):
                bare = [_bare(s) if isinstance(s, ast.AnnAssign) else s for s in body]
                # Which nodes have a body is known by having looked, and not by their type.
                inner.body = bare  # type: ignore[attr-defined]
    return node
