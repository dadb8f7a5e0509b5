"""Mutation testing of the reference loader: does the suite notice a random change of its code?

``python conformance/tests/mutation.py --count 300`` draws mutations of the files that hold the
loader's logic, puts each into a copy of the package, and plays the copy through ``quick`` until a
requirement fails. It needs `cosmic-ray`, whose operators make the mutations
(``pip install cosmic-ray``). Results are kept as they come, so an interrupted run goes on where it
stopped, and the same seed draws the same mutations.

    python conformance/tests/mutation.py --count 300 --seed 1 --kept mutation.jsonl
    python conformance/tests/mutation.py --list               the mutations, without playing them
    python conformance/tests/mutation.py --survivors          what no case has noticed so far

A survivor is either equivalent to the loader, or the suite lacks a case for it.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import difflib
import itertools
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import detection
from warm_hosts import TORCH

sys.path.append(str(detection.UNTUNED))

import edited

FILES = (
    "epoch/*.py",
    "format/consistency.py",
    "format/parts.py",
    "format/permutation.py",
    "format/plan.py",
    "format/seeds.py",
    "format/state.py",
    "lane/batch_info.py",
    "lane/host.py",
    "lane/lane.py",
    "lane/messages.py",
    "lane/passes.py",
    "lane/progress.py",
    "lane/streams.py",
    "loader.py",
    "sampling/batches.py",
    "sampling/chain.py",
    "sampling/custom.py",
    "stateful.py",
    "workers/inline.py",
    "workers/processes.py",
    "workers/task_log.py",
    "workers/threads.py",
)
"""The files that decide which batches come, and what a state says of them.

Left out are texts of errors, statistics, the check of arguments, what only an accelerator reaches,
the transport of bytes, the codecs, which have vectors of their own, and other loaders' states.
"""

OPERATORS = ("Variable",)
"""The beginnings of the names of operators that are left out: they need arguments."""

ADAPTER = '''"""The reference loader after a mutation."""

import sys

sys.path.append({untuned!r})

import edited

edited.install(edited.Path({copy!r}))

from midepoch_conformance.adapters import reference


class Adapter(reference.Adapter):
    """Its session makes the mutated loader."""

    loader_here = True
'''


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One change of one file."""

    file: str
    line: int
    operator: str
    occurrence: int

    @property
    def name(self) -> str:
        """A name that stays the same as long as the file does."""
        return f"{self.file}:{self.line} {self.operator} {self.occurrence}"

    def text(self) -> str:
        """Return the file's text after the change."""
        from cosmic_ray.mutating import mutate_code
        from cosmic_ray.plugins import get_operator

        operator = get_operator(f"core/{self.operator}")()
        changed = mutate_code(source(self.file), operator, self.occurrence)
        assert isinstance(changed, str), self.name
        return changed

    def words(self) -> str:
        """Return the changed lines, before and after."""
        before, after = source(self.file).splitlines(), self.text().splitlines()
        lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[3:]
        return " ".join(f"{line[0]} {line[1:].strip()}" for line in lines if line[0] in "+-")


def source(file: str) -> str:
    """Return the text of one of the package's files."""
    return (edited.PACKAGE / file).read_text(encoding="utf-8")


def files() -> list[str]:
    """Return the files that are mutated."""
    found = {path for pattern in FILES for path in edited.PACKAGE.glob(pattern)}
    return sorted(str(path.relative_to(edited.PACKAGE)) for path in found)


def places(file: str) -> dict[tuple[int, int], list[Mutation]]:
    """Return the mutations of a file by their places."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator, operator_names

    tree = get_ast(source(file))
    found: dict[tuple[int, int], list[Mutation]] = {}
    for name in sorted(operator_names()):
        short = name.removeprefix("core/")
        if short.startswith(OPERATORS):
            continue
        operator, occurrence = get_operator(name)(), 0
        for node in ast_nodes(tree):
            for (line, column), _ in operator.mutation_positions(node):
                mutation = Mutation(file, line, short, occurrence)
                found.setdefault((line, column), []).append(mutation)
                occurrence += 1
    return found


def drawn(seed: int) -> Iterator[Mutation]:
    """Yield mutations in an order that follows from the seed: a place first, then an operator.

    Mutations of annotations alone are left out, since nothing evaluates them, and those that are
    no Python: the operators take the ``*`` between two parameters for a product.
    """
    chance = random.Random(seed)
    known = {(file, *at): many for file in files() for at, many in places(file).items()}
    order = sorted(known)
    chance.shuffle(order)
    for place in order:
        mutation = chance.choice(known[place])
        changed = meaning(mutation.text())
        if changed is not None and changed != meaning(source(mutation.file)):
            yield mutation


def meaning(text: str) -> str | None:
    """Return a program's tree without annotations, in words; None if it is no program."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def play(mutation: Mutation, folder: Path) -> dict[str, Any]:
    """Play the mutated loader through ``quick`` until a requirement fails."""
    copy = edited.copy_of({mutation.file: mutation.text()})
    path = folder / f"mutated_{copy.name}.py"
    path.write_text(ADAPTER.format(untuned=str(detection.UNTUNED), copy=str(copy)), "utf-8")
    facts = detection.playing(f"{path}:Adapter", "quick", detection.LIMIT[TORCH])
    return {"name": mutation.name, "words": mutation.words(), "result": facts}


def read(kept: Path) -> dict[str, dict[str, Any]]:
    """Return the results that a file has, by the mutations' names."""
    if not kept.exists():
        return {}
    lines = kept.read_text(encoding="utf-8").splitlines()
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def line(entry: dict[str, Any]) -> str:
    """Return a result in one line."""
    result = entry["result"]
    said = "SURVIVES"
    if result["caught"]:
        said = f"{result['requirement']} {result['outcome']}, case {result['number']}"
    elif result.get("trouble"):
        said = f"does not run: {result['trouble']}"
    return f"{entry['name']}: {said} [{result['seconds']:.0f} s]\n    {entry['words']}"


def show(entries: list[dict[str, Any]]) -> None:
    """Print how many mutations were noticed."""
    survivors = sum(not (e["result"]["caught"] or e["result"].get("trouble")) for e in entries)
    stopped = sum(bool(e["result"].get("trouble")) for e in entries)
    share = 100 * (len(entries) - survivors) / max(1, len(entries))
    print(
        f"\n{len(entries)} mutations: {len(entries) - survivors} noticed ({share:.0f} %), of which "
        f"{stopped} do not run at all; {survivors} survive"
    )


def main() -> None:
    """Draw mutations of the reference loader and play them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, default=Path("mutation.jsonl"), metavar="FILE")
    parser.add_argument("--list", action="store_true", help="print the mutations alone")
    parser.add_argument("--survivors", action="store_true", help="print what survives so far")
    options = parser.parse_args()
    known = read(options.kept)
    if options.survivors:
        for entry in known.values():
            if not (entry["result"]["caught"] or entry["result"].get("trouble")):
                print(line(entry))
        show(list(known.values()))
        return
    chosen = list(itertools.islice(drawn(options.seed), options.count))
    if options.list:
        for mutation in chosen:
            print(f"{mutation.name}\n    {mutation.words()}")
        return
    with contextlib.ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="midepoch-mutated-"))
        hosts = stack.enter_context(detection.forked_hosts())
        os.environ[edited.COPIES] = str(Path(name, "copies"))
        hosts.modules = TORCH
        for mutation in chosen:
            entry = known.get(mutation.name)
            if entry is None:
                entry = known[mutation.name] = play(mutation, Path(name))
                with options.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
            print(line(entry), flush=True)
    show([known[mutation.name] for mutation in chosen])


if __name__ == "__main__":
    main()
