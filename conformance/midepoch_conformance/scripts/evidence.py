"""How a failure's script shows an observation: its output, and when its status is 1 (pure)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.case.trace import WRITTEN
from midepoch_conformance.scripts import recipes
from midepoch_conformance.scripts.comparison import Comparison, flat, said, seen
from midepoch_conformance.verdict import requirements
from midepoch_conformance.verdict.evidence import AS_MANY, UNINTERRUPTED, Evidence, Piece
from midepoch_conformance.verdict.finding import Finding

__all__ = ["KNOWN", "compared"]


def compared(case: Case, finding: Finding, evidence: Evidence) -> Comparison:
    """Return the comparison of a finding's script."""
    found = _COMPARISONS[evidence.what](case, finding, evidence)
    return dataclasses.replace(found, case=found.case or _cut(case, evidence))


def _cut(case: Case, evidence: Evidence) -> Case:
    """Return the case up to the last step that the observation needs."""
    last = max([evidence.session, evidence.other, *(piece.session for piece in evidence.pieces)])
    if last < 0 or evidence.what == "recipe":
        return case
    sessions = list(case.sessions[: last + 1])
    if evidence.last is not None:
        steps = sessions[-1].steps[: max(evidence.last, 0) + 1]
        sessions[-1] = dataclasses.replace(sessions[-1], steps=steps)
    return dataclasses.replace(case, sessions=tuple(sessions))


def _or_refused(finding: Finding, steps: str, shows: str) -> str:
    """Return the condition of a failure; a refusal is none if the requirement allows it."""
    known = requirements.load().get(finding.requirement)
    allowed = known is not None and known.refusal in ("passes", "refused")
    return f"{shows} and not refused({steps})" if allowed else shows


def _run(run: tuple[int, int, int | None], session: int) -> str:
    epoch, begin, stop = run
    part = f"[{begin or ''}:{'' if stop is None else stop}]" if begin or stop is not None else ""
    return f"epochs({seen(session)})[{epoch}]{part}"


def _batches(case: Case, finding: Finding, e: Evidence) -> Comparison:
    steps, run = seen(e.session, e.step), e.run
    caught = _to_the_end(case, e.session)
    whole = caught or _beyond_an_empty_rest(case, e)
    if run and caught:
        run = (*run[:2], None)
    got = f"[*epochs({steps}), [], []][{e.epoch}]"
    expected = _run(run, e.other) if run else repr(flat(finding.expected))
    shows = _or_refused(finding, steps, "got != expected")
    if e.wanted == AS_MANY:
        return Comparison(f"len({expected})", f"len({got})", shows, case=whole)
    if e.wanted:
        shows = f'got != expected and "error" not in {seen(e.session)}[{e.step}]'
    return Comparison(expected, got, shows, case=whole)


def _to_the_end(case: Case, session: int) -> Case | None:
    """Return the case with a session that continues to the end, if the caller catches errors.

    A correct loader may be elsewhere at each step: an epoch takes it a drain for each sample that
    raises, and one more. Return None if the caller catches no errors.
    """
    plans = [*case.sessions[: session + 1]]
    steps = plans[-1].steps
    if not any(step.tolerate and step.do in ("take", "drain") for step in steps):
        return None
    w = case.workload
    drains = (Step("drain", tolerate=True),) * (w.epochs * (2 + len(w.fails_also)))
    plans[-1] = dataclasses.replace(plans[-1], steps=(*steps, *drains))
    return dataclasses.replace(case, sessions=tuple(plans))


def _beyond_an_empty_rest(case: Case, e: Evidence) -> Case | None:
    """Return the case with one more drain, if a correct loader may deliver an empty rest first.

    It may do so after a load of a state from an epoch's last batch: the next drain delivers what
    is expected. Return None for any other observation.
    """
    loads = case.sessions[e.session].steps[e.step].do.startswith("load")
    if not (loads and e.run and e.run[0] and e.run[1:] == (0, None)) or e.epoch:
        return None
    cut = _cut(case, e)
    last = dataclasses.replace(
        cut.sessions[-1], steps=(*cut.sessions[-1].steps, Step("drain", tolerate=True))
    )
    return dataclasses.replace(cut, sessions=(*cut.sessions[:-1], last))


def _samples(case: Case, finding: Finding, e: Evidence) -> Comparison:
    got = f"ids({', '.join(map(_piece, e.pieces))})"
    each = " or ".join(f"0 to {n - 1}" for n in e.wanted)
    slack = f", {e.slack} of which may be missing" if e.slack else ""
    shows = f"not is_whole(got, {tuple(e.wanted)}, {e.slack})"
    if e.droppable:
        slack = f", of which {', '.join(map(str, e.droppable))} may be missing"
        shows += f" or not {{*range({e.droppable[0]})}} <= {{*got}}"
    last = e.pieces[-1]
    shows = _or_refused(finding, seen(last.session, last.step), shows)
    return Comparison(said(f"samples {each}, each once{slack}"), got, shows)


def _piece(piece: Piece) -> str:
    found = f"epochs({seen(piece.session, piece.step)})"
    return found if piece.epoch is None else f"{found}[{piece.epoch}:{piece.epoch + 1}]"


def _epochs(case: Case, finding: Finding, e: Evidence) -> Comparison:
    steps = seen(e.session, e.step)
    if e.wanted is None:
        got, wanted = f"len([epoch for epoch in epochs({steps}) if epoch])", finding.expected
    else:
        got, wanted = f'[step.get("ended") for step in {steps}].count(True)', e.wanted
    return Comparison(repr(wanted), got, "got < expected")


def _error(case: Case, finding: Finding, e: Evidence) -> Comparison:
    steps = seen(e.session, e.step)
    given = f'(errors({steps}) or [step["batches"] for step in {steps}])'
    if e.wanted == "no error":
        # A dataset that finds its state changed refuses nothing, nor does a codec, or a save.
        plain = finding.kind in ("values", "codec", "save", "close")
        shows = "got" if plain else _or_refused(finding, steps, "got")
        return Comparison(said(e.wanted), f"errors({steps})", shows)
    if e.wanted == "an error":
        ended = 'error.startswith("the process died")'
        return Comparison(said(e.wanted), given, f"all({ended} for error in errors({steps}))")
    if e.wanted == "an interrupt":
        shows = 'not any("KeyboardInterrupt" in error for error in got if isinstance(error, str))'
        return Comparison(said("KeyboardInterrupt"), given, shows)
    if e.wanted == "a refusal":
        return Comparison(
            said("a refusal: an error in words, before any batch"), given, f"not refused({steps})"
        )
    own = f'["on purpose" in step.get("trace", "on purpose") for step in {steps}]'
    if e.wanted == "its error alone":
        return Comparison(said(e.wanted), given, f"not all({own})")
    own = f'"on purpose" in {steps}[-1].get("trace", "")'
    if e.run is None:
        return Comparison(said(e.wanted), given, f"not {own}")
    expected = f"[*{_run(e.run, UNINTERRUPTED)}, {said(e.wanted)}]"
    got = f'[*[batch for step in {steps} for batch in step["batches"]], *errors({steps})]'
    return Comparison(expected, got, f"got[:-1] != expected[:-1] or not {own}")


def _drew(case: Case, finding: Finding, e: Evidence) -> Comparison:
    got = f'{seen(e.session)}[{e.step}]["drew"]'
    return Comparison(said("no global random stream moves"), got, "got", ("drew",))


def _draws(case: Case, finding: Finding, e: Evidence) -> Comparison:
    what, chance = e.wanted
    count = sum(not draw.startswith("private") for draw in case.workload.draws)

    def drawn(each: str, epochs: str) -> str:
        rows = f"for epoch in epochs({seen(e.session)}){epochs} for batch in epoch for row in batch"
        return f"{each} {rows} for v in row[1 : {1 + count}]"

    own = drawn("v", f"[{e.epoch}:{e.epoch + 1}]")
    if what == "samples":  # a sample may draw the same values in each epoch
        got = f"sorted(v for _, v in {{{drawn('(row[0], v)', '')}}})"
        shows = f"len({{a for a, b in zip(got, got[1:]) if a == b}}) > {chance}"
        return Comparison(said("no value is drawn by two samples"), got, shows)
    if what == "epoch":
        shows = f"len(got) - len(set(got)) > {chance}"
        return Comparison(said("no value is drawn twice"), f"sorted({own})", shows)
    before = f"{{{drawn('v', f'[:{e.epoch}]')}}}"
    got = f"[v for earlier in [{before}] for v in [{own}] if v in earlier]"
    expected = said("no value of an earlier epoch is drawn again")
    return Comparison(expected, got, f"len(got) > {chance}")


def _changed(case: Case, finding: Finding, e: Evidence) -> Comparison:
    steps = seen(e.session)
    plans = list(case.sessions)
    kept = tuple(step for step in plans[e.session].steps if step.do != "overwrite")
    closes = () if kept and kept[-1].do == "close" else (Step("close"),)
    del plans[e.session + 1 :]
    plans[e.session] = dataclasses.replace(plans[e.session], steps=(*kept, *closes))
    return Comparison(
        f'[batch for step in {steps} for batch in step["batches"]]',
        f'{steps}[-1].get("held_batches")',
        looks=("held_batches",),
        case=dataclasses.replace(case, sessions=tuple(plans)),
    )


def _written(case: Case, finding: Finding, e: Evidence) -> Comparison:
    got = f'[batch for step in {seen(e.session)} for batch in step["batches"]]'
    shows = f"any({WRITTEN} in (row if isinstance(row, list) else [row]) for b in got for row in b)"
    return Comparison(said(f"no batch holds the {WRITTEN} written into others"), got, shows)


def _size(case: Case, finding: Finding, e: Evidence) -> Comparison:
    every = ", ".join(f"*{seen(index)}" for index in range(e.session + 1))
    got = f'[step["size"] for step in [{every}] if step["do"].startswith("save")]'
    most, rounds, many = e.wanted
    shows = f"grows(got, {rounds}, {many})"
    if sum(step.do == "save" for plan in case.sessions for step in plan.steps) < rounds:
        shows = f"got[-1] - got[0] > {most}"
    return Comparison(said("about as many bytes late as early"), got, shows, ("size",))


def _calls(case: Case, finding: Finding, e: Evidence) -> Comparison:
    word, most, *further = e.wanted
    sessions = range(e.session if e.other == UNINTERRUPTED else e.other, e.session + 1)
    counts = [f'{seen(session)}[-1]["calls"].get("{word}", 0)' for session in sessions]
    if e.other == UNINTERRUPTED:
        before = f'{seen(e.session)}[{e.step - 1}]["calls"].get("{word}", 0)'
        got = f"{counts[0]} - {before}" if e.step else counts[0]
        return Comparison(said(f"at most {most} of {word}"), got, f"got > {most}", ("calls",))
    expected = said(f"at most {most} more of {word} in the last resume than in any earlier one")
    shows = f"got[-1] - max(got[:-1]) > {most} or got[-1] - got[0] > {further[0]}"
    return Comparison(expected, f"[{', '.join(counts)}]", shows, ("calls",))


def _slope(case: Case, finding: Finding, e: Evidence) -> Comparison:
    word, rounds, many = e.wanted
    count = f'["calls"].get("{word}", 0)'
    if e.session:
        counts = [f"{seen(index)}[-1]{count}" for index in range(1, e.session + 1)]
        got = f"[{', '.join(counts)}]"
    else:
        delivers = 'step["do"].startswith(("take", "drain"))'
        got = f"each([step{count} for step in {seen(0)} if {delivers}])"
    expected = said(f"no more of {word} each time")
    return Comparison(expected, got, f"grows(got, {rounds}, {many})", ("calls",))


def _altered(case: Case, finding: Finding, e: Evidence) -> Comparison:
    got = f'{seen(e.session)}[-1]["altered"]'
    return Comparison(said("no state is altered"), got, "got", ("altered",))


def _left(case: Case, finding: Finding, e: Evidence) -> Comparison:
    return Comparison(said("no processes left"), f'{seen(e.session)}[-1]["left"]', "got", ("left",))


def _held(case: Case, finding: Finding, e: Evidence) -> Comparison:
    got = f'[step["held"] for step in {seen(e.session)} if step["do"].startswith("count")]'
    shows = "any([*counts] == sorted(set(counts)) for counts in zip(*got))"
    return Comparison(said("no more of anything after each round"), got, shows, ("held",))


def _recipe(case: Case, finding: Finding, e: Evidence) -> Comparison:
    return recipes.comparison(case, finding)


_COMPARISONS: dict[str, Callable[[Case, Finding, Evidence], Comparison]] = {
    "batches": _batches,
    "samples": _samples,
    "epochs": _epochs,
    "error": _error,
    "drew": _drew,
    "draws": _draws,
    "changed": _changed,
    "written": _written,
    "size": _size,
    "calls": _calls,
    "slope": _slope,
    "altered": _altered,
    "left": _left,
    "held": _held,
    "recipe": _recipe,
}

KNOWN = frozenset(_COMPARISONS)
"""The observations that a script can print."""
