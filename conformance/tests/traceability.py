"""Requirement, judge, mutant: nothing may stand alone.

``python conformance/tests/traceability.py`` prints the table's gaps and exits 1 when there is
one that is not allowed: a requirement with neither judge nor written reason, a judge without a
requirement, an error type or a mutant that cites a requirement which does not exist, a failure from
the field that nothing answers. The judges that no mutant fails are listed with their number.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from pathlib import Path

import field_trace
from field_trace import field_table

import midepoch.errors
from midepoch_conformance.families.family import FAMILIES
from midepoch_conformance.judges import REGISTRY
from midepoch_conformance.verdict import requirements

MUTANTS = Path(__file__).parent / "mutants"


@dataclasses.dataclass(frozen=True)
class Mutant:
    """What a mutant says of itself, in constants that are read without running it.

    Attributes:
        path: its file.
        words: the first line of its docstring: what it does wrong.
        expected: ``EXPECTED``, the requirement that catches it.
        largest: ``LARGEST``, the largest case that shrinking may leave, in numbers.
        field: ``FIELD``, the failures from the field that it shows.
        table: ``TABLE``, the first profile whose cases catch it.
        loose: ``LOOSE``, why ``LARGEST`` is not what is reached.
    """

    path: Path
    words: str
    expected: str
    largest: dict[str, int] = dataclasses.field(default_factory=dict)
    field: tuple[str, ...] = ()
    table: str = "quick"
    loose: str = ""


def read(path: Path) -> Mutant | None:
    """Return what the file says of itself; None where it expects nothing and is no mutant."""
    said = {}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    words = (ast.get_docstring(tree) or "").partition("\n")[0]
    for node in tree.body:
        if isinstance(node, ast.Assign):
            for name in (t.id for t in node.targets if isinstance(t, ast.Name)):
                if name in ("EXPECTED", "LARGEST", "FIELD", "TABLE", "LOOSE"):
                    said[name.lower()] = ast.literal_eval(node.value)
    return Mutant(path, words, **said) if "expected" in said else None


def mutants() -> dict[str, Mutant]:
    """Return each mutant by its name."""
    found = {p.stem: read(p) for p in sorted(MUTANTS.glob("*.py"))}
    return {name: mutant for name, mutant in found.items() if mutant is not None}


def field_failures() -> dict[str, tuple[str, ...]]:
    """Return the mutants that show failures from the field, with which ones they show."""
    return {name: mutant.field for name, mutant in mutants().items() if mutant.field}


def problems() -> list[str]:
    """Return every broken link, in words."""
    index = {r.id: r for r in requirements.load().values()}
    out = []
    for r in index.values():
        if r.id not in REGISTRY and not r.unjudged:
            out.append(f"{r.id} has neither a judge nor a written reason why it has none")
        if r.id in REGISTRY and r.unjudged:
            out.append(f"{r.id} has a judge and a reason why it has none")
    out += [f"the judge of {i} answers no requirement" for i in REGISTRY if i not in index]
    for name, mutant in mutants().items():
        if mutant.expected not in index:
            out.append(f"mutant {name} names {mutant.expected}, which is no requirement")
    for name, value in inspect.getmembers(midepoch.errors, inspect.isclass):
        cited = getattr(value, "requirement", None)
        if cited is not None and cited not in index:
            out.append(f"midepoch.errors.{name} cites {cited}, which is no requirement")
    return out + field_problems()


def field_problems() -> list[str]:
    """Return what is missing for the failures in the field, in words."""
    caught: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, mutant in mutants().items():
        caught.setdefault(mutant.expected, {})[name] = mutant.field
    cited = {r.id: r.field for r in requirements.load().values()}
    looked_at = {judge.requirement: judge.families for judge in REGISTRY.values()}
    return field_trace.problems(field_table.load(), cited, looked_at, FAMILIES, caught)


def main() -> int:
    """Print the state of the table; return 1 where a link is broken."""
    index = list(requirements.load().values())
    killed = {mutant.expected for mutant in mutants().values()}
    idle = [i for i in REGISTRY if i not in killed]
    print(f"{len(index)} requirements, {len(REGISTRY)} judged, {len(mutants())} mutants")
    for r in index:
        if r.unjudged:
            print(f"  not judged: {r.id}: {r.unjudged}")
    print(f"{len(idle)} judges are named by no mutant yet: {', '.join(idle) or 'none'}")
    broken = problems()
    for line in broken:
        print(f"BROKEN: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
