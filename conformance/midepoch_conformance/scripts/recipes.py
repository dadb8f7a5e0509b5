"""The comparisons for requirements of a format's bytes, orders and seeds (pure).

A script holds the values that the specification gives for the case: a published state, the
samples of an order, the numbers that a stream draws.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.judges.format.order import ordered, values
from midepoch_conformance.scripts.comparison import Comparison, flat, said, seen
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.format.permutation import derive_words
from midepoch_conformance.verdict.format.published import published_elements, resume, vector

__all__ = ["COUNT", "REQUIREMENTS", "comparison"]

_SHOWN = 16
"""Samples of a batch that a script holds."""

_DOCUMENTS = '[step["document"] for step in {seen} if step["document"]]'
_ALL = "[batch for epoch in epochs({seen}) for batch in epoch]"

Recipe = Callable[[Case, Finding], Comparison]

_RECIPES: dict[str, Recipe] = {}


def comparison(case: Case, finding: Finding) -> Comparison:
    """Return the comparison of a finding's script; without a recipe, it is of all batches."""
    return _RECIPES.get(finding.requirement, _delivered)(case, finding)


def _recipe(*requirements: str) -> Callable[[Recipe], Recipe]:
    def register(recipe: Recipe) -> Recipe:
        _RECIPES.update(dict.fromkeys(requirements, recipe))
        return recipe

    return register


def _delivered(case: Case, finding: Finding) -> Comparison:
    """Compare the batches with those that came when the failure was found."""
    last = len(case.sessions) - 1
    got = _ALL.format(seen=seen(last))
    if finding.expected is not None:
        return Comparison(repr(flat(finding.expected)), f"{got}[-len(expected) :]")
    return Comparison(said("no error"), f"errors({seen(last)})", "got")


@_recipe("EPOCH-6", "EPOCH-7")
def _rolled_over(case: Case, finding: Finding) -> Comparison:
    """All epochs of a run, one after the other, are one permutation after the other.

    Fewer samples than a batch are left over at the end.
    """
    w = case.workload
    run = dataclasses.replace(case.sessions[0], steps=(Step("drain"),) * w.epochs)
    chunks = f"(set(got[i : i + {w.n}]) for i in range(0, len(got), {w.n}))"
    return Comparison(
        said(f"samples 0 to {w.n - 1}, each once, and then each once more"),
        f"[row[0] if isinstance(row, list) else row for batch in {_ALL.format(seen=seen(0))} "
        "for row in batch]",
        f"sum(len(chunk) for chunk in {chunks}) < len(got)"
        f" or len(got) <= {w.n * w.epochs - w.batch_size}",
        case=dataclasses.replace(case, sessions=(run,)),
    )


@_recipe("DOC-1")
def _valid(case: Case, finding: Finding) -> Comparison:
    got = f"[fault for state in {_DOCUMENTS.format(seen=seen(0))} for fault in faults(state)]"
    words = said("states that are valid against the schema")
    return Comparison(words, got, "got", ("document",))


@_recipe("DOC-2")
def _one_layout(case: Case, finding: Finding) -> Comparison:
    """Look at the save that the finding names."""
    named = re.match(r"save (\d+)", finding.words)
    at = int(named[1]) - 1 if named else 0
    one, other = (f"sorted(keys({_DOCUMENTS.format(seen=seen(i))}[{at}]))" for i in (0, 1))
    return Comparison(one, other, looks=("document",))


@_recipe("DOC-3")
def _plain_types(case: Case, finding: Finding) -> Comparison:
    path = finding.words.partition(": ")[2].partition(", ")[0].strip("/")
    got = f'[at(state, "{path}") for state in {_DOCUMENTS.format(seen=seen(0))}]'
    shows = r're.search(r"\d\.\d|\"\$(?!int)", json.dumps(got)) is not None'
    words = said("a value of a JSON type: no float, and no tag but $int")
    return Comparison(words, got, shows, ("document",))


@_recipe("DOC-4")
def _user_parts(case: Case, finding: Finding) -> Comparison:
    entry = finding.got.get("dataset") if isinstance(finding.got, dict) else None
    position = entry.get("position") if isinstance(entry, dict) else None
    states = _DOCUMENTS.format(seen=seen(0))
    parts = f'[e["dataset"] for state in {states} for e in state["lanes"]["entries"]]'
    if position is None:
        words = said("the state of each dataset that has delivered")
        return Comparison(words, parts, "any(part is None for part in got)", ("document",))
    tree = case.workload.state_tree(position)
    tree["big"] = {"$int": str(tree["big"])}
    got = f'[part["tree"] for part in {parts} if part and part["position"] == {position}][0]'
    expected = repr(dict(sorted(tree.items())))
    return Comparison(expected, got, "repr(got) != repr(expected)", ("document",))


@_recipe("DOC-5")
def _canonical(case: Case, finding: Finding) -> Comparison:
    got = f'[step["text"] for step in {seen(0)} if step["do"].startswith("save")]'
    return Comparison("[canonical(text) for text in got]", got, looks=("text",))


@_recipe("DOC-6", "WORLD-4")
def _equal_states(case: Case, finding: Finding) -> Comparison:
    """Compare a state with the one taken again, or those of the two ranks that are named."""
    named = re.match(r"the states of ranks 0 and (\d+)", finding.words)
    sessions = (1, 1 + int(named[1])) if named else (0, 1)
    one, other = (f"{_DOCUMENTS.format(seen=seen(i))}[:1]" for i in sessions)
    return Comparison(one, other, looks=("document",))


@_recipe("DOC-7", "DOC-8", "DOC-9", "DOC-11", "DOC-16", "DOC-17")
def _published(case: Case, finding: Finding) -> Comparison:
    """Compare with a published state's outcome: the state is refused or continued."""
    steps = case.sessions[0].steps
    if case.probe == "published mismatch":
        wanted = vector("mismatches", steps[0].value).error
        got = f'next((step["bases"] for step in {seen(0)} if "bases" in step), ["no error"])'
        return Comparison(said(wanted), got, "expected not in got")
    name = finding.words.partition(" (")[0]
    load = next((s for s in steps if s.value == name), None)
    if load is not None:
        wanted = vector("invalid", load.value).error
        case = _only(case, dataclasses.replace(load, tolerate=True))
        got = f'{seen(0)}[-1].get("bases", ["no error"])'
        return Comparison(said(wanted), got, "expected not in got", case=case)
    load = next(step for step in steps if step.do == "load_document")
    if finding.words.startswith("written again"):
        states = _DOCUMENTS.format(seen=seen(0))
        got = f'[key for state in {states} for key in state if key.startswith("x-")]'
        return Comparison("[]", got, looks=("document",))
    expected = [batch for epoch in resume(load.value).epochs for batch in epoch if batch]
    case = _only(case, *(step for step in steps if step.do != "save"))
    return Comparison(repr(flat(expected)), _ALL.format(seen=seen(0)), case=case)


@_recipe("DOC-10")
def _one_empty_epoch(case: Case, finding: Finding) -> Comparison:
    got = f'[step["batches"] for step in {seen(1)} if step["do"] == "drain"]'
    after = 1 + sum(step.do == "drain" for step in case.sessions[0].steps)
    return Comparison(f'[[], epochs(seen["whole"])[{after}]]', got)


@_recipe("DOC-18")
def _consistent(case: Case, finding: Finding) -> Comparison:
    """Look at the field that contradicts others, or at the list that holds it."""
    path = str(finding.expected).partition("/entries/")
    place = path[0] + ("/entries" if path[1] else "")
    wrong = finding.got
    for name in place.split("/"):
        wrong = wrong[name]
    got = f'at({_written(finding)}, "{place}")'
    words = said(f"{place} as the other fields have it")
    return Comparison(words, got, f"got == {wrong!r}", ("document",))


@_recipe("DOC-19")
def _counted(case: Case, finding: Finding) -> Comparison:
    position = f'{_written(finding)}["position"]'
    got = f"{{name: {position}[name] for name in expected}}"
    return Comparison(repr(finding.expected), got, looks=("document",))


def _written(finding: Finding) -> str:
    """Return the expression for the document that a finding is about."""
    place = finding.evidence or Evidence("recipe")
    return f'{seen(place.session)}[{place.step}]["document"]'


@_recipe("DOC-12")
def _names_every_field(case: Case, finding: Finding) -> Comparison:
    shows = "not says(str(got), expected)"
    if case.probe == "invalid state":
        load = next(s for s in case.sessions[0].steps if finding.words.startswith(f"{s.value} ("))
        differences = vector("invalid", load.value).differences
        said_ = [*differences, *(text for pair in differences.values() for text in pair)]
        got = f'[step["error"] for step in {seen(0)} if "error" in step][:1]'
        case = _only(case, dataclasses.replace(load, tolerate=True))
        return Comparison(repr(said_), got, shows, case=case)
    saved, here = case.workload, case.session_workload(1)
    names = {"n": "length", "shuffle": "sampler"}
    texts = ["PlanMismatchError"]
    for name, _ in case.sessions[1].workload:
        pair = [_value(w, name) for w in (saved, here)]
        texts += [text for text in (names.get(name, name), *pair) if text not in texts]
    got = f'[step["error"] for step in {seen(1)} if "error" in step][:1]'
    return Comparison(repr(texts), got, shows)


@_recipe("ORDER-1")
def _permutations(case: Case, finding: Finding) -> Comparison:
    n = case.workload.n
    got = f"[(len(ids([epoch])), len(set(ids([epoch])))) for epoch in epochs({seen(0)})[:2]]"
    return Comparison(
        said(f"{n} samples, each once, in both epochs"), got, f"got != [({n}, {n})] * 2"
    )


@_recipe("ORDER-2", "ORDER-3", "ORDER-4", "ORDER-6")
def _ordered(case: Case, finding: Finding) -> Comparison:
    """Look at the batch that the finding names, or at all published ones."""
    if case.probe == "published order":
        elements = (some for _, some in published_elements(str(case.workload.n)))
        return Comparison(repr([[i] for some in elements for i in some]), _ALL.format(seen=seen(0)))
    if case.probe == "published epochs":
        w = case.workload
        data = vector("epochs", f"{w.seed}-{w.n}-{w.batch_size}-{w.tail}").data["epochs"]
        wanted_ = [[int(i) for i in batch] for epoch in data for batch in epoch["batches"]]
        return Comparison(repr(wanted_), _ALL.format(seen=seen(0)))
    named = re.search(r"epoch (\d+), batch (\d+)", finding.words)
    epoch, batch = (int(named[1]), int(named[2])) if named else (0, 0)
    wanted = [row[0] for row in ordered(case.workload, epoch, batch, 1)[0]][:_SHOWN]
    case = _only(case, *(Step("drain"),) * epoch, Step("take", batch + 1))
    return Comparison(repr(wanted), f"epochs({seen(0)})[{epoch}][{batch}][:{_SHOWN}]", case=case)


@_recipe("ORDER-5")
def _far(case: Case, finding: Finding) -> Comparison:
    if finding.outcome == "fails":
        steps = f"[*{seen(0)}, *{seen(1)}]"
        return Comparison(said("no error"), f"errors({steps})", "got")
    begun = [step.n for step in case.sessions[0].steps if step.do == "take"]
    document = next(s.document for s in case.sessions[1].steps if s.document)
    at = re.search(r'"batches": ?(\d+)', document), re.search(r'"epoch": ?(\d+)', document)
    batches, epoch = (int(found[1]) if found else 0 for found in at)
    wanted = [ordered(case.workload, 0, 0, sum(begun)), ordered(case.workload, epoch, batches, 2)]
    got = [_ALL.format(seen=seen(i)) for i in (0, 1)]
    return Comparison(repr([*map(flat, wanted)]), f"[{', '.join(got)}[:2]]")


@_recipe("SEED-1", "SEED-2", "SEED-3", "SEED-4", "SEED-7")
def _drawn(case: Case, finding: Finding) -> Comparison:
    """Look at each batch's first draw from one stream, in both epochs."""
    if finding.kind == "reordered":
        return _ordered(case, finding)
    if case.probe == "seeds elsewhere":
        return _drawn_elsewhere(case, finding)
    w, lanes = case.workload, case.sessions[0].execution.lanes or 0
    named = re.search(r"the stream of (\w+)", finding.words)
    draw = named[1] if named else w.draws[0]
    wanted: list[float] = []
    for epoch in range(2):
        if w.kind == "map":
            count = -(-w.n // w.batch_size)
            seeds = [derive_words(w.seed, "batch.map", epoch, n) for n in range(count)]
        else:
            dealt = _dealt(w.n, w.batch_size, lanes)
            seeds = [derive_words(w.seed, "batch.iterable", epoch, *place) for place in dealt]
        wanted += [values(one, 1, (draw,))[0][0] for one in seeds]
    every = ", ".join(f"*{_ALL.format(seen=seen(i))}" for i in range(len(case.sessions)))
    return Comparison(repr(wanted), f"[batch[0][{1 + w.draws.index(draw)}] for batch in [{every}]]")


def _drawn_elsewhere(case: Case, finding: Finding) -> Comparison:
    """Look at the rows of the epoch and the lane that the finding names, or at the order."""
    w, lanes = case.workload, case.sessions[0].execution.lanes or 1
    numbers = [int(number) for number in re.findall(r"(?:epoch|lane) (\d+)", finding.words)]
    batches = f"epochs({seen(0)})[{numbers[0]}]"
    if w.sampler:
        got = f"[i for batch in {batches} for i in batch]"
        return Comparison(repr(finding.expected), got)
    drawn = f"row[{1 + len(w.draws)}:]"
    got = f"[{drawn} for batch in {batches} for row in batch if row[0] % {lanes} == {numbers[1]}]"
    return Comparison(f"[{finding.expected!r}] * len(got)", got)


@_recipe("SEED-5")
def _root(case: Case, finding: Finding) -> Comparison:
    written = str(case.workload.seed)
    got = f'[state["plan"]["seed"] for state in {_DOCUMENTS.format(seen=seen(0))}]'
    return Comparison(f"[{written!r}] * len(got)", got, looks=("document",))


def _only(case: Case, *steps: Step) -> Case:
    """Return the case's first session alone, with other steps."""
    plan = dataclasses.replace(case.sessions[0], steps=steps)
    return dataclasses.replace(case, sessions=(plan,))


def _dealt(n: int, size: int, lanes: int) -> list[tuple[int, int]]:
    """Return lane and ordinal of each batch, as batches are dealt to lanes in turn."""
    shares = [-(-len(range(lane, n, lanes or 1)) // size) for lane in range(lanes or 1)]
    rounds = range(max(shares, default=0))
    return [(lane, turn) for turn in rounds for lane, count in enumerate(shares) if turn < count]


def _value(w: Any, name: str) -> str:
    if name == "shuffle":
        return "shuffle" if w.shuffle else "sequential"
    return str(getattr(w, name))


REQUIREMENTS = frozenset(_RECIPES)
"""The requirements that have a recipe."""

COUNT = len(set(_RECIPES.values()))
