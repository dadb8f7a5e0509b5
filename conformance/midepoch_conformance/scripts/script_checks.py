"""What a failure's script compares, for each requirement (pure text).

In the expressions ``@whole`` stands for what the uninterrupted run delivered, and ``@first``,
``@second`` ... for what the case's sessions did: lists of batches; an error is ``["words"]``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.uninterrupted import Place, places
from midepoch_conformance.scripts.script_sessions import NAMES
from midepoch_conformance.verdict.finding import NO_REFUSALS, Finding

__all__ = ["SILENT", "Check", "Recipe", "batches", "check_of", "delivered", "register"]


@dataclasses.dataclass(frozen=True)
class Check:
    """The end of a script.

    Attributes:
        expected: the expression that is printed as expected.
        got: the expression that is printed as got.
        shows: the expression that tells whether the failure shows: true or false.
        parts: whether an epoch is looked at as one list of samples.
        notes: what sessions deliver besides; see :class:`~.script_sessions.Style`.
        word: what is counted of what was noted.
        document: text that a session loads as ``DOCUMENT``.
        vector: the published file that is there as ``VECTOR``.
        sessions: the case's sessions that are played; all where none is named.
        steps: what a session does in the place of its steps, by the session's number.
        epochs: of the uninterrupted run that are looked at; all where it is 0.
        rows: whether whole rows are looked at, whatever they hold.
        ids: whether samples' ids alone are looked at, whatever the rows hold.
        quiet: whether errors that are tolerated are not told.
        caught: whether an epoch goes on after such an error.
    """

    expected: str
    got: str
    shows: str = "got != expected"
    parts: bool = False
    notes: str = ""
    word: str = ""
    document: str = ""
    vector: str = ""
    sessions: tuple[int, ...] = ()
    steps: tuple[tuple[int, tuple[Step, ...]], ...] = ()
    epochs: int = 0
    rows: bool = False
    ids: bool = False
    quiet: bool = False
    caught: bool = False


Recipe = Callable[[Case, Finding, Sequence[int]], Check]

_RECIPES: dict[str, Recipe] = {}

_ACCIDENTS = (*sorted(name.removesuffix("Error") for name in NO_REFUSALS), "died")

HELPERS: dict[str, tuple[str, ...]] = {
    "is_error": (
        "def is_error(batch):",
        "    return isinstance((batch or [0])[0], str)",
    ),
    "refused": (
        "def refused(seen):  # by an error in words, before any batch, and not by accident",
        '    kind, _, words = str([*sum(seen, []), ""][0]).partition(": ")',
        '    accidents = "' + " ".join(_ACCIDENTS) + '".split()',
        '    return words.strip() and kind.removesuffix("Error") not in accidents',
    ),
    "at": (
        "def at(node, path):  # what lies there",
        '    for key in path.split("/"):',
        "        node = node[0][key] if isinstance(node, list) else node[key]",
        "    return node",
    ),
    "canonical": (
        "def canonical(text):  # the canonical encoding of what a text says",
        '    options = dict(sort_keys=True, separators=(",", ":"), ensure_ascii=False)',
        "    return json.dumps(json.loads(text), **options)",
    ),
    "faults": (
        "def faults(state):  # what is not valid in a state",
        '    schema = importlib.resources.files("midepoch_spec") / "schema/state-1.schema.json"',
        "    validator = jsonschema.Draft202012Validator(json.loads(schema.read_text()))",
        "    return [fault.message for fault in validator.iter_errors(state)]",
    ),
    "keys": (
        "def keys(node, path=()):  # of the loader's own part",
        "    for key in node if isinstance(node, dict) else ():",
        '        yield "/".join([*path, key])',
        '        if key not in ("dataset", "iterator", "states"):',
        "            yield from keys(node[key], [*path, key])",
        "    for item in node if isinstance(node, list) else ():",
        "        yield from keys(item, path)",
    ),
    "complete": (
        "def complete(parts, *sizes):  # each sample once",
        "    samples = sorted(map(str, sum(parts, [])))",
        "    return samples in [sorted(map(str, range(n))) for n in sizes]",
    ),
}
"""Functions that the expressions may call."""


def register(*requirements: str) -> Callable[[Recipe], Recipe]:
    """Make the decorated function the recipe of some requirements."""

    def of(recipe: Recipe) -> Recipe:
        _RECIPES.update(dict.fromkeys(requirements, recipe))
        return recipe

    return of


def check_of(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """Return what the script of ``finding`` compares."""
    return _RECIPES.get(finding.requirement, batches)(case, finding, lengths)


SILENT = "got != expected and not any(map(is_error, got))"
"""Wrong data shows, and no error."""

CUT = frozenset({"REFUSE-2", "REFUSE-4", "RESUME-5", "RESUME-7"})
"""Recipes that look at the uninterrupted run as far as the sessions get."""


def recipes() -> frozenset[str]:
    """Return the requirements that have a recipe of their own."""
    return frozenset(_RECIPES)


def batches(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """Return that all that is delivered is the uninterrupted run's, as far as that goes."""
    wanted: list[list[int]] = []
    beyond = False
    for plan, walked in zip(case.sessions, places(case, lengths), strict=True):
        for step, before, after in zip(plan.steps, walked[:-1], walked[1:], strict=True):
            if step.do in ("take", "drain"):
                beyond = beyond or before.epoch >= len(lengths)
                start, end = _flat(before, lengths), _flat(after, lengths)
                if wanted and wanted[-1][1] == start:
                    wanted[-1][1] = end
                elif start < end:
                    wanted.append([start, end])
    slices = [_slice(start, end, sum(lengths)) for start, end in wanted]
    expected = slices[0] if len(slices) == 1 else f"[{', '.join('*' + s for s in slices)}]"
    got = delivered(case)
    if beyond and finding.outcome == "fails":
        # It may come where nothing more is expected.
        return Check(
            expected, got, shows="any(str in map(type, batch) for batch in got)", quiet=True
        )
    known = _known(case, lengths)
    last = len(case.sessions) - 1
    if finding.kind == "repeated":
        # It may be one too many at the end of the last epoch that is known.
        return Check(expected, got, steps=tuple(known.items()), quiet=True)
    # What is beyond in the last session comes after all that is expected, or in the place of an
    # empty rest. Errors that are made on purpose are not looked at.
    steps = tuple((number, kept) for number, kept in known.items() if number != last)
    return Check(expected, f"{got}[: len(expected)]" if beyond else got, steps=steps, quiet=True)


def _known(case: Case, lengths: Sequence[int]) -> dict[int, tuple[Step, ...]]:
    """Return the sessions' steps without deliveries beyond the epochs whose lengths are known.

    Those that come before a save stay: it would be made elsewhere without them.
    """
    found: dict[int, tuple[Step, ...]] = {}
    for number, (plan, walked) in enumerate(zip(case.sessions, places(case, lengths), strict=True)):
        saves = [i for i, step in enumerate(plan.steps) if step.do == "save"]
        kept = tuple(
            step
            for i, (step, before) in enumerate(zip(plan.steps, walked[:-1], strict=True))
            if before.epoch < len(lengths)
            or step.do not in ("take", "drain")
            or i < max(saves, default=-1)
        )
        if kept != plan.steps:
            found[number] = kept
    return found


def delivered(case: Case) -> str:
    """Return the expression of all that the case's sessions deliver."""
    seen = [f"@{name}" for name, _ in zip(NAMES, case.sessions, strict=False)]
    return seen[0] if len(seen) == 1 else f"[{', '.join('*' + name for name in seen)}]"


def _flat(place: Place, lengths: Sequence[int]) -> int:
    return sum(lengths[: place.epoch]) + place.done


def _slice(start: int, end: int, whole: int) -> str:
    if start == 0 and end >= whole:
        return "@whole"
    return f"@whole[{start or ''}:{end if end < whole else ''}]"


@register("BASIS-1")
def _runs(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    count = sum(lengths)
    return Check(
        expected=f'"{case.workload.epochs} epochs, {count} batches, and no error"',
        got="@first",
        shows=f"len(got) < {count} or any(map(is_error, got))",
    )


@register("BASIS-3", "EPOCH-5")
def _each_once(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    w, x = case.workload, case.sessions[0].execution
    most = 0 if w.tail != "drop" else max(1, x.lanes or 0, x.workers) * (w.batch_size - 1)
    drains = sum(step.do == "drain" for step in case.sessions[0].steps)
    return Check(
        expected=f'"in each of {drains} epochs samples 0 to {w.n - 1}, each once"',
        got=f"@first[-{drains}:]",
        shows=f"not all({w.n - most} <= len(epoch) == len(set(epoch)) for epoch in got)",
        parts=True,
    )


@register("EPOCH-6")
def _rolled_over(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """All epochs of a run, one after the other, are one permutation after the other."""
    w = case.workload
    if "left over were" not in finding.words and "carried" not in finding.words:
        return batches(case, finding, lengths)
    chunks = f"(set(got[i : i + {w.n}]) for i in range(0, len(got), {w.n}))"
    return Check(
        expected=f'"samples 0 to {w.n - 1}, each once, and then each once more"',
        got="[row[0] for batch in @first for row in batch]",
        shows=f"sum(len(chunk) for chunk in {chunks}) < len(got)",
        sessions=(0,),
        steps=((0, (Step("drain"),) * w.epochs),),
        rows=True,
    )


@register("UNORD-1")
def _in_any_order(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The epoch is looked at that the finding names: all sessions have a part in the first."""
    said = re.match(r"epoch (\d+)", finding.words)
    number = int(said[1]) if said else 0
    names = NAMES[: len(case.sessions)]
    got = f"@{names[-1]}[{number}:{number + 1}]"
    if number == 0:
        got = f"[{', '.join(f'*@{name}[:1]' for name in names)}]"
    n = case.workload.n
    return Check(
        expected=f'"samples 0 to {n - 1}, each once, in epoch {number}"',
        got=got,
        shows=_incomplete([n]),
        parts=True,
    )


@register("BASIS-5")
def _drew(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    steps = case.sessions[0].steps
    saves = [number for number, step in enumerate(steps) if step.do == "save"]
    return Check(
        expected='"no save moves a global random stream"',
        got=_STAYED.format(name="first"),
        shows="not all(got)",
        notes="drew",
        steps=((0, steps[: max(saves, default=len(steps)) + 1]),),
        sessions=(0,),
    )


@register("SEED-6")
def _moved(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """The session is looked at that the finding names: the first, or one that resumes."""
    steps = case.sessions[0].steps
    resumed = finding.words.endswith("after a resume")
    saves = [number for number, step in enumerate(steps) if step.do == "save"]
    if resumed:
        steps = steps[: max(saves, default=len(steps)) + 1]
    else:
        steps = tuple(step for step in steps if step.do != "save")
    return Check(
        expected='"no delivery moves a global random stream"',
        got=_STAYED.format(name="second" if resumed else "first"),
        shows="not all(got)",
        notes="moved",
        steps=((0, steps),),
        sessions=() if resumed else (0,),
    )


_STAYED = "[seen[0] for seen in @{name} if isinstance(seen[0], bool)]"


@register("REFUSE-1")
def _refuses(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    return Check(
        expected='"an error that refuses it in words, before any batch"',
        got="@first",
        shows="not refused(got)",
    )


@register("REFUSE-2")
def _refuses_or_continues(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    exact = batches(case, finding, lengths)
    if finding.outcome == "fails silently":
        return dataclasses.replace(exact, shows=SILENT)
    return dataclasses.replace(exact, shows=f"{exact.shows} and not refused(@second)")


@register("REFUSE-3", "ELASTIC-2")
def _refuses_or_completes(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    sizes = sorted({case.workload.n, case.session_workload(1).n})
    each = " or ".join(f"0 to {n - 1}" for n in sizes)
    return Check(
        expected=f'"a refusal, or samples {each}, each once, in the saved epoch"',
        got="@first + [epoch for epoch in @second if epoch][:1]",
        shows=f"not refused(@second) and {_incomplete(sizes)}",
        parts=True,
    )


def _incomplete(sizes: Sequence[int]) -> str:
    """Return the expression that tells whether what is ``got`` is not each sample once."""
    if len(sizes) > 1:
        return f"not complete(got, {', '.join(map(str, sizes))})"
    return f"sorted(sum(got, []), key=str) != sorted(range({sizes[0]}), key=str)"


@register("WORLD-1")
def _of_a_rank(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    """One rank is looked at: what it delivers once it has saved is what it resumes with."""
    world = len(case.sessions) // 2
    said = finding.words.split()
    rank = int(said[1]) if said[:1] == ["rank"] and said[1].isdigit() else 0
    taken = sum(step.n for step in case.sessions[0].steps if step.do == "take")
    return Check(
        expected=f"@first[{taken}:]",
        got="@second",
        sessions=(rank, rank + world),
    )


@register("WORLD-2")
def _of_all_ranks(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    before = case.sessions[0].execution.world
    names = NAMES[: len(case.sessions)]
    saved = [f"*@{name}" for name in names[:before]]
    rest = [f"*@{name}[:1]" for name in names[before:]]
    w = case.workload
    return Check(
        expected=f'"refusals, or samples 0 to {w.n - 1}, each once, in the saved epoch"',
        got=f"[{', '.join([*saved, *rest])}]",
        shows=f"{_incomplete([w.n])} and not refused(got[{before}:])",
        parts=True,
    )


@register("REFUSE-4", "DOC-13")
def _after_a_refusal(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    if finding.words.startswith(("the epoch after", "after the refusal it")):
        n = case.workload.n
        return Check(
            expected=f'"after the refusal, and at the end, samples 0 to {n - 1}, each once"',
            got="@first[[*map(is_error, @first)].index(True) + 1 :]",
            shows=f"sorted(sum(got, [])[-{n}:], key=str) != sorted(range({n}), key=str)",
            ids=True,
        )
    exact = batches(case, finding, lengths)
    # The refusal itself is as it must be; a second error is not.
    return Check(
        expected=f'["the error", *{exact.expected}]',
        got="sorted(@first, key=is_error, reverse=True)",
        shows="not is_error(got[0]) or got[1:] != expected[1:]",
    )


@register("RESUME-5")
def _live(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    walked, steps = places(case, lengths)[1], [step.do for step in case.sessions[1].steps]
    load = steps.index("load")
    before = sum(step.n for step in case.sessions[1].steps[:load] if step.do == "take")
    if "ends without an error" in finding.words:
        # Looked at alone: what the next iterator delivers may be the same.
        return Check(
            expected='"the batch after the state, or an error"',
            got=f"@second[{before}:]",
            shows="not got",
            steps=((1, case.sessions[1].steps[: load + 2]),),
        )
    at = _flat(walked[load + 1], lengths)
    rest = f"@whole[{at}:{_flat(Place(walked[load + 1].epoch + 1), lengths)}]"
    # Either the live iterator goes on from the state, or it raises and the next one does.
    return Check(
        expected=f"{rest}[: len(got)]",
        got=f"@second[{before} : {before + 1}]",
        shows="got != expected or not got",
        quiet=True,
    )


@register("VOWN-2", "VAMB-2")
def _distinct(case: Case, finding: Finding, lengths: Sequence[int]) -> Check:
    run = "@first" if case.probe.endswith("streams") else "@whole"
    return Check(
        expected='"no value is drawn twice"',
        got=f"sorted(value for batch in {run} for row in batch for value in row[1:])",
        shows="len(got) - len(set(got)) > 2",
    )
