"""What a failure's script compares for implementers of midepoch's own format (pure text).

A script holds what the specification gives for the case: a published state, the samples of an
order, the numbers that a stream draws.
"""

from __future__ import annotations

import dataclasses
import json
import re
import textwrap
from collections.abc import Sequence
from typing import Any

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.judges.order import ordered, values
from midepoch_conformance.scripts.script_checks import Check, batches, delivered, register
from midepoch_conformance.verdict.finding import Finding
from midepoch_conformance.verdict.permutation import words
from midepoch_conformance.verdict.published import vector

__all__: list[str] = []

_SHOWN = 16
"""Samples of a batch that a script holds."""

_PASTED = 15
"""Lines of a published vector that a script holds; it reads the file of a longer one."""

_DOCUMENTS = "[seen[0] for seen in @{name} if isinstance(seen[0], dict)]"
_LAYOUTS = "[sorted({{*keys(seen[0])}}) for seen in @{name} if isinstance(seen[0], dict)]"


@register("DOC-1")
def _valid(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"states that are valid against the schema"',
        got="[fault for seen in @first if isinstance(seen[0], dict) for fault in faults(seen[0])]",
        shows="len(got) > 0",
        notes="document",
    )


@register("DOC-2")
def _one_layout(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The save is looked at that the finding names."""
    said = re.match(r"save (\d+)", finding.words)
    wanted = int(said[1]) - 1 if said else 0
    cut: list[tuple[int, tuple[Step, ...]]] = []
    for index, plan in enumerate(case.sessions):
        saves = [number for number, step in enumerate(plan.steps) if step.do == "save"]
        at = saves[min(wanted, len(saves) - 1)]
        others = [step for step in plan.steps[:at] if step.do != "save"]
        cut.append((index, (*others, plan.steps[at])))
    return Check(
        expected=_LAYOUTS.format(name="first"),
        got=_LAYOUTS.format(name="second"),
        notes="document",
        steps=tuple(cut),
    )


@register("DOC-3")
def _plain_types(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    path = finding.words.partition(": ")[2].partition(", ")[0].strip("/")
    return Check(
        expected='"a value of a JSON type: no float, and no tag but $int"',
        got=f'[at(state, "{path}") for state in {_DOCUMENTS.format(name="first")}]',
        shows='re.search(r"[0-9][.][0-9]|\\"[$](?!int)", json.dumps(got)) is not None',
        notes="document",
    )


@register("DOC-4")
def _user_parts(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    entry = finding.got.get("dataset") if isinstance(finding.got, dict) else None
    if not isinstance(entry, dict) or "position" not in entry:
        return batches(case, finding, lengths)
    position = entry["position"]
    tree = case.workload.state_tree(position)
    tree["big"] = {"$int": str(tree["big"])}
    parts = (
        f'[e["dataset"] for s in {_DOCUMENTS.format(name="first")} for e in s["lanes"]["entries"]]'
    )
    return Check(
        expected=_wrapped(dict(sorted(tree.items()))),
        got=f'[part["tree"] for part in {parts} if part["position"] == {position}][0]',
        shows="repr(got) != repr(expected)",
        notes="state and document",
    )


@register("DOC-5")
def _canonical(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected="[canonical(text) for text in got]",
        got='[seen[0] for seen in @first if str(seen[0]).startswith("{")]',
        notes="bytes",
    )


@register("DOC-6")
def _taken_again(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected=f"{_DOCUMENTS.format(name='first')}[:1]",
        got=f"{_DOCUMENTS.format(name='second')}[:1]",
        notes="state and document",
    )


@register("DOC-8", "DOC-9")
def _rejected(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """One published state is looked at: the one that the finding names."""
    name = finding.words.partition(" (")[0]
    steps = case.sessions[0].steps
    step = next((s for s in steps if s.value == name), steps[0])
    error = vector("invalid", step.value).error
    return Check(
        expected=f'"{error}"',
        got="@first",
        shows="expected not in sum(got, [])",
        document=_text(step.document),
        steps=((0, (Step("load_document", value=step.value, tolerate=True),)),),
        notes="bases",
    )


@register("DOC-7")
def _unknown_fields(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    if case.probe == "unknown field":
        return _rejected(case, finding, lengths)
    if not finding.words.startswith("written again"):
        return _published(case, finding, lengths)
    load = next(step for step in case.sessions[0].steps if step.do == "load_document")
    return Check(
        expected="[]",
        got=f'[k for s in {_DOCUMENTS.format(name="first")} for k in s if k.startswith("x-")]',
        document=_text(load.document),
        notes="document",
    )


@register("DOC-11")
def _published(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    steps = case.sessions[0].steps
    load = next(step for step in steps if step.do == "load_document")
    columns = 1 + len(case.workload.draws)
    published = vector("resumes", load.value)
    epochs = published.data["epochs"]
    wanted = [[row[:columns] for row in batch] for epoch in epochs for batch in epoch]
    flat = [[row[0] for row in batch] for batch in wanted] if columns == 1 else wanted
    check = Check(
        expected=_wrapped(flat),
        got="@first",
        document=_text(load.document),
        steps=((0, tuple(step for step in steps if step.do != "save")),),
    )
    long = f"{check.expected}\n{check.document}".count("\n") > _PASTED
    if not long or load.document != published.text:
        return check
    row = "row[0]" if columns == 1 else f"row[:{columns}]"
    return dataclasses.replace(
        check,
        expected=f'[[{row} for row in batch] for epoch in VECTOR["epochs"] for batch in epoch]',
        document='json.dumps(VECTOR["state"])',
        vector=f"vectors/resumes/{load.value}.json",
    )


@register("DOC-10")
def _one_empty_epoch(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(expected="[[], @whole[1]]", got="@second", parts=True)


@register("DOC-12")
def _names_every_field(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    saved, here = case.workload, case.session_workload(1)
    names = {"n": "length", "shuffle": "sampler"}
    said: list[str] = []
    for name, _ in case.sessions[1].workload:
        pair = [_value(w, name) for w in (saved, here)]
        said += [text for text in (names.get(name, name), *pair) if text not in said]
    return Check(
        expected=_filled(json.dumps(["PlanMismatchError", *said])),
        got="@second",
        shows="not all(word in str(got[:1]) for word in expected)",
    )


@register("ORDER-1")
def _permutations(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    n = case.workload.n
    return Check(
        expected=f'"each of {n} samples once in each epoch"',
        got="[(len(epoch), len(set(epoch))) for epoch in @first[:2]]",
        shows=f"got != [({n}, {n})] * 2",
        parts=True,
        steps=((0, (Step("drain"), Step("drain"))),),
    )


@register("ORDER-2", "ORDER-3", "ORDER-4", "ORDER-6")
def _ordered(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The batch is looked at that the finding names."""
    said = re.search(r"epoch (\d+), batch (\d+)", finding.words)
    epoch, batch = (int(said[1]), int(said[2])) if said else (0, 0)
    w = case.workload
    wanted = [row[0] for row in ordered(w, epoch, batch, 1)[0]][:_SHOWN]
    steps = (*(Step("drain"),) * epoch, Step("take", batch + 1))
    return Check(
        expected=_wrapped(wanted),
        got=f"@first[-1][:{_SHOWN}]",
        steps=((0, steps),),
        sessions=(0,),
    )


@register("ORDER-5")
def _far(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    begun, far = case.sessions
    w, document = case.workload, next(s.document for s in far.steps if s.document)
    position = json.loads(document)["position"]
    count = sum(step.n for step in begun.steps if step.do == "take")
    wanted = [*ordered(w, 0, 0, count), *ordered(w, position["epoch"], position["batches"], 2)]
    return Check(
        expected=_wrapped([[row[0] for row in batch] for batch in wanted]),
        got="[*@first, *@second]",
        document=_text(document),
    )


@register("SEED-1", "SEED-2", "SEED-3", "SEED-4", "SEED-7")
def _drawn(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """Each batch's first draw of one stream is looked at, in both epochs."""
    w, lanes = case.workload, case.sessions[0].execution.lanes or 0
    named = re.search(r"the stream of (\w+)", finding.words)
    draw = named[1] if named else w.draws[0]
    wanted: list[float] = []
    for epoch in range(2):
        if w.kind == "map":
            seeds = [words(w.seed, "batch.map", epoch, n) for n in range(-(-w.n // w.batch_size))]
        else:
            seeds = [
                words(w.seed, "batch.iterable", epoch, lane, ordinal)
                for lane, ordinal in _dealt(w.n, w.batch_size, lanes)
            ]
        wanted += [values(one, 1, (draw,))[0][0] for one in seeds]
    return Check(
        expected=_wrapped(wanted),
        got=f"[batch[0][{1 + w.draws.index(draw)}] for batch in {delivered(case)}]",
        rows=True,
    )


@register("SEED-5")
def _root(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    seed = case.workload.seed
    written = {"$int": str(seed)} if seed > 2**53 else seed
    return Check(
        expected=f"[{json.dumps(written)}] * len(got)",
        got=f'[s["plan"]["seed"] for s in {_DOCUMENTS.format(name="first")}]',
        notes="document",
    )


def _dealt(n: int, size: int, lanes: int) -> list[tuple[int, int]]:
    """Return lane and ordinal of each batch, as batches are dealt to lanes in turn."""
    shares = [-(-len(range(lane, n, lanes or 1)) // size) for lane in range(lanes or 1)]
    rounds = range(max(shares, default=0))
    return [(lane, turn) for turn in rounds for lane, count in enumerate(shares) if turn < count]


def _value(w: Any, name: str) -> str:
    if name == "shuffle":
        return "shuffle" if w.shuffle else "sequential"
    return str(getattr(w, name))


def _wrapped(value: object) -> str:
    """Return the source of a value, in lines that are not too long."""
    return _filled(repr(value))


def _filled(text: str) -> str:
    # The first line stands behind a name.
    begin = " " * len("    expected = ")
    lines = textwrap.wrap(
        text, 96, initial_indent=begin, subsequent_indent=" " * 8, break_on_hyphens=False
    )
    return "\n".join(lines).strip()


def _text(document: str) -> str:
    """Return the source of a published text, in lines that are not too long."""
    if "'" in document or "\\" in document or not document.isascii():
        return repr(document)
    lines = [document[i : i + 92] for i in range(0, len(document), 92)]
    return "(\n" + "\n".join(f"    '{line}'" for line in lines) + "\n)"
