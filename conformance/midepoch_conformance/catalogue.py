"""The requirements and how they are judged: ``midepoch list`` and ``midepoch spec``."""

from __future__ import annotations

import collections
import functools
import inspect
import textwrap

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from midepoch_conformance import judges
from midepoch_conformance.errors import CheckError
from midepoch_conformance.families import tables
from midepoch_conformance.families.tables import PROFILES
from midepoch_conformance.host.loading import BUILT_IN, ELSEWHERE
from midepoch_conformance.text import meant
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.requirements import Requirement, RequirementClass

__all__ = ["case_counts", "how_judged", "show_all", "show_list", "show_one"]

_NAME_WIDTH, _COUNT_WIDTH = 16, 6


@functools.lru_cache(maxsize=2)
def case_counts(profile: str) -> dict[str, int]:
    """Return the number of cases of a profile's table by which each requirement is judged."""
    counts: collections.Counter[str] = collections.Counter()
    for case in tables.load_table(profile):
        counts.update(judges.applicable(case))
    return dict(counts)


def how_judged(requirement: str) -> str:
    """Return how a requirement is judged: its judge's docstring, or why there is none."""
    unjudged = requirements.get(requirement).unjudged
    if unjudged:
        return f"not judged: {unjudged}"
    judge = judges.REGISTRY.get(requirement)
    if judge is None:
        return "not judged"
    text = inspect.getdoc(judge.function) or ""
    return f"{text}\n(cases of the families: {', '.join(judge.families)})"


def show_list(console: Console) -> None:
    """Print the loaders, profiles, classes and requirements."""
    console.print(Text("loaders", "bold"))
    console.print(f"  {', '.join(BUILT_IN)}", highlight=False)
    console.print(f"  with --python, from their own environments: {', '.join(ELSEWHERE)}")
    console.print("  path/to/file.py:Adapter, package.module:Adapter, or a make_loader function")
    console.print(Text("profiles", "bold"))
    for profile in PROFILES:
        console.print(f"  {profile}: {len(tables.load_table(profile))} cases", highlight=False)
    console.print(Text("classes and requirements, with their numbers of cases", "bold"))
    console.print(_line("", *PROFILES))
    for entry in requirements.classes():
        title = Text.assemble(entry.name, (f"  {entry.title}", "dim"))
        console.print(Padding(title, (0, 0, 0, 2)))
        for requirement in requirements.load().values():
            if requirement.cls == entry.name:
                console.print(_line(requirement.id, *map(str, _counts(requirement))))


def _line(name: str, *counts: str) -> Table:
    line = Table.grid(padding=(0, 2))
    line.add_column(width=_NAME_WIDTH, no_wrap=True)
    for _ in counts:
        line.add_column(width=_COUNT_WIDTH, justify="right")
    line.add_row(f"    {name}", *counts)
    return line


def show_all(console: Console) -> None:
    """Print each requirement's text."""
    for requirement in requirements.load().values():
        console.print(Text.assemble((requirement.id, "bold"), f"  {requirement.text}"))


def show_one(name: str, console: Console) -> None:
    """Print a requirement with its reason, its judge and its cases; a class; or a rule.

    Raises:
        CheckError: there is no requirement or rule of that id, and no class of that name.
    """
    entry = next((one for one in requirements.classes() if one.name.lower() == name.lower()), None)
    if entry is not None:
        _show_class(entry, console)
        return
    if rule := requirements.rules().get(name.upper()):
        console.print(Text.assemble((rule.id, "bold"), "  a rule of the format"))
        console.print(Text(rule.text))
        kind = rule.id.split("-")[0]
        judged = f"with all rules {kind}, by {', '.join(rule.requirements)}"
        vectors = ", ".join(rule.vectors)
        _show_facts([("judged", judged), ("vectors", vectors), ("page", rule.page)], console)
        return
    requirement = requirements.load().get(name.upper())
    if requirement is None:
        classes = [one.name for one in requirements.classes()]
        known = [*requirements.load(), *requirements.rules(), *classes]
        raise CheckError(
            f"no requirement {name!r}; `midepoch list` shows the {len(requirements.load())} there "
            "are",
            meant(name, known),
        )
    console.print(
        Text.assemble((requirement.id, "bold"), f"  {requirement.cls}, {requirement.level}")
    )
    console.print(Text(requirement.text))
    facts = [
        ("why", requirement.why),
        ("seen in the field", ", ".join(requirement.field)),
        ("a refusal", _REFUSALS.get(requirement.refusal, requirement.refusal)),
        ("judged", how_judged(requirement.id)),
        ("cases", _cases(requirement)),
        ("page", requirement.page),
    ]
    _show_facts(facts, console)


def _show_facts(facts: list[tuple[str, str]], console: Console) -> None:
    for title, text in facts:
        if text:
            console.print(Text(f"\n{title}", "dim"))
            console.print(Text(textwrap.indent(text, "  ")))


def _show_class(entry: RequirementClass, console: Console) -> None:
    console.print(Text.assemble((entry.name, "bold"), f"  {entry.title}"))
    for requirement in requirements.load().values():
        if requirement.cls == entry.name:
            console.print(Text.assemble("\n", (requirement.id, "bold"), f"  {requirement.text}"))
            console.print(Text(f"  cases: {_cases(requirement)}", "dim"))
    console.print(Text("\n`midepoch spec ID` shows a requirement's reason and its judge."))


_REFUSALS = {
    "passes": "passes: a typed error with a message satisfies the requirement",
    "refused": "counts as refused: neither a pass nor a failure",
    "fails": "fails",
}


def _counts(requirement: Requirement) -> list[int | str]:
    if requirement.unjudged:
        return ["-" for _ in PROFILES]
    return [case_counts(profile).get(requirement.id, 0) for profile in PROFILES]


def _cases(requirement: Requirement) -> str:
    pairs = zip(PROFILES, _counts(requirement), strict=True)
    return ", ".join(f"{count} in {profile}" for profile, count in pairs)
