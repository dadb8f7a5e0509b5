"""Requirement, judge, mutant: nothing may stand alone.

``python conformance/tests/traceability.py`` prints the table's gaps and exits 1 when there is
one that is not allowed: a requirement with neither judge nor written reason, a judge without a
requirement, an error type or a mutant that cites a requirement which does not exist. The judges
that no mutant fails are listed with their number.
"""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import midepoch.errors
from midepoch_conformance import requirements
from midepoch_conformance.judges import REGISTRY

MUTANTS = Path(__file__).parent / "mutants"


def expected_of(path: Path) -> list[str]:
    """Return the requirement ids that a mutant's ``EXPECTED`` names."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [t.id for t in targets if isinstance(t, ast.Name)]
            if "EXPECTED" in names and node.value is not None:
                value = ast.literal_eval(node.value)
                return [value] if isinstance(value, str) else list(value)
    return []


def mutants() -> dict[str, list[str]]:
    """Return each mutant's name with the requirements expected to catch it."""
    found = {p.stem: expected_of(p) for p in sorted(MUTANTS.glob("*.py"))}
    return {name: ids for name, ids in found.items() if ids}


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
    for name, ids in mutants().items():
        out += [f"mutant {name} names {i}, which is no requirement" for i in ids if i not in index]
    for name, value in inspect.getmembers(midepoch.errors, inspect.isclass):
        cited = getattr(value, "requirement", None)
        if cited is not None and cited not in index:
            out.append(f"midepoch.errors.{name} cites {cited}, which is no requirement")
    return out


def main() -> int:
    """Print the state of the table; return 1 where a link is broken."""
    index = list(requirements.load().values())
    killed = {i for ids in mutants().values() for i in ids}
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
