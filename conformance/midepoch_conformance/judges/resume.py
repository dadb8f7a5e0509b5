"""Resume: a state taken inside an epoch resumes exactly, under the same execution."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.trace import Event
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import Problem, View
from midepoch_conformance.verdict.compare import difference, show
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.expected import Stretch
from midepoch_conformance.verdict.finding import Finding, fault_kind, in_words

__all__ = ["inside"]


@judge("RESUME-1", "cut", "work cut", "uneven", "killed", "many batches", "shuffled stream cut")
def exact(view: View) -> Finding | None:
    """The rest of the first epoch is delivered."""
    return view.rest(1) if inside(view, 1) else None


@judge("RESUME-2", "chain", "work chain", "shuffled stream chain")
def in_chains(view: View) -> Finding | None:
    """The rest of the epoch is delivered after each further resume too."""
    last = len(view.case.sessions) - 1
    first, problem = view.rest(1), view.problem(1)
    if problem is not None and view.saving(1, problem):
        return view.of_problem(problem)
    if first.outcome != "pass":
        return view.blocked(f"the first resume is wrong: {first.words}")
    for index in range(2, last + 1):
        finding = view.rest(index)
        if finding.outcome != "pass":
            return finding
    return view.passed()


@judge("RESUME-3", "resave")
def complete(view: View) -> Finding | None:
    """A state taken right after a load, or a few batches later, is complete."""
    return view.rest(2)


@judge("RESUME-4", "start", "work start")
def from_the_start(view: View) -> Finding | None:
    """A state from before the first batch resumes the whole epoch."""
    return view.rest(1)


@judge("RESUME-5", "live")
def live(view: View) -> Finding | None:
    """A load while an iterator is live takes effect on it, or makes it raise, or is documented to
    apply to the next iterator while the live one goes on.
    """
    found = _loaded_live(view)
    if isinstance(found, Finding):
        return found
    load, probe = found
    if load.fault is not None:
        return view.rest(1)
    if probe is None:
        return None  # only the next iterator is asked
    if probe.fault is None:
        documented = view.live_load == "next"
        return _still_live(view, load, probe) if documented else _on_the_live_one(view, probe)
    if probe.fault.kind != "raised" or probe.batches:
        evidence = Evidence("error", 1, load.step, probe.step, wanted="no error")
        words = in_words(probe.fault, len(probe.batches))
        return view.fails(fault_kind(probe.fault, 0), words, evidence=evidence)
    return view.passed("the live iterator raises")


@judge("RESUME-8", "live")
def after_a_live_load(view: View) -> Finding | None:
    """The next iteration resumes if the load did not take effect on the live iterator."""
    found = _loaded_live(view)
    if isinstance(found, Finding):
        return found
    load, probe = found
    if load.fault is not None:
        return None  # nothing was loaded
    if probe is None:
        # A load that applies to the live iterator is gone with the iterator that is dropped.
        return None if view.live_load == "applies" else view.rest(1)
    if probe.fault is None and (view.live_load != "next" or _takes_effect(view, probe)):
        return None  # the load takes effect on the live iterator, or RESUME-5 fails
    if probe.fault is not None and (probe.fault.kind != "raised" or probe.batches):
        return view.blocked(in_words(probe.fault, len(probe.batches)))
    return _next_one(view, load.step, probe.step)


@judge("RESUME-6", "used", "work used", "used after a death")
def into_used(view: View) -> Finding | None:
    """A load into a used loader equals one into a fresh one, in all epochs after it."""
    if view.case.probe == "used after a death":
        return _used_after_a_death(view)
    last = len(view.case.sessions) - 1
    if last > 1:
        fresh = view.all(2)
        if fresh.outcome != "pass":
            return view.blocked(f"wrong with a fresh loader too: {fresh.words}")
    found = view.all(last)
    return dataclasses.replace(found, needs=_of_later_epochs(view.problem(last)))


def _used_after_a_death(view: View) -> Finding:
    """Judge a load into the loader whose worker has died, at the session's first step."""
    load = _load(view, tolerated=(0,))
    if isinstance(load, Finding):
        return load
    problem = view.problem(1, tolerated=(0,))
    if problem is None:
        return view.passed()
    return dataclasses.replace(view.of_problem(problem), needs=_of_later_epochs(problem))


def _of_later_epochs(problem: Problem | None) -> tuple[str, ...]:
    """Return what a problem after a load needs: a fresh loader may lose the later epochs too."""
    return ("EPOCH-1",) if problem is not None and problem.epoch else ()


def inside(view: View, session: int) -> bool:
    """Return whether the session's state was taken inside an epoch that has batches left.

    True also if the play did not get that far: the judge then says why.
    """
    resumed: list[Stretch] = [s for s in view.of(session) if s.loaded]
    return not resumed or resumed[0].start.batches > 0


def _loaded_live(view: View) -> tuple[Event, Event | None] | Finding:
    """Return the load and what was asked of the live iterator after it, or why neither was."""
    load = _load(view)
    if isinstance(load, Finding):
        return load
    return load, next((e for e in view.events(1, "take") if e.step > load.step), None)


def _load(view: View, tolerated: tuple[int, ...] = ()) -> Event | Finding:
    """Return the second session's load, or why it cannot be judged.

    Faults of the ``tolerated`` steps do not count.
    """
    early = view.before(1)
    if early is not None:
        return early
    load = next((e for e in view.events(1, "load")), None)
    if load is None:
        return view.blocked("the play did not get to the load")
    problem = view.problem(1, tolerated)
    if problem is not None and problem.step < load.step:
        return view.blocked(f"wrong already before the load: {problem.words}")
    return load


def _on_the_live_one(view: View, probe: Event) -> Finding:
    """Judge what the live iterator delivered after the load: the loaded state's next batch."""
    stretch = next(s for s in view.of(1) if s.step == probe.step)
    wrong = difference(stretch, view.epochs)
    evidence = _live_batch(view, probe, stretch)
    if wrong is not None:
        words = f"the live iterator ignores the load: {wrong.words}"
        return view.silent("ignored", words, wrong.expected, wrong.got, evidence)
    if not probe.batches:
        words = "the live iterator ends without an error"
        return view.silent("ignored", words, stretch.want, [], evidence)
    return view.passed("the load takes effect on the live iterator")


def _takes_effect(view: View, probe: Event) -> bool:
    """Return whether the live iterator delivered the loaded state's next batches."""
    stretch = next(s for s in view.of(1) if s.step == probe.step)
    return bool(probe.batches) and difference(stretch, view.epochs) is None


def _still_live(view: View, load: Event, probe: Event) -> Finding:
    """Judge a load that is documented to apply to the next iterator: the live one goes on.

    It may take effect on the live one, too: a generator of the adapter begins with its first batch.
    """
    if _takes_effect(view, probe):
        return view.passed("the load takes effect on the live iterator")
    taken = [batch for e in view.events(1) if e.step < load.step for batch in e.batches]
    want = (view.epochs[0] if view.epochs else [])[len(taken) :][: len(probe.batches) or 1]
    if probe.batches != want:
        words = f"the live iterator neither goes on nor resumes: {show(probe.batches[:1])} comes"
        evidence = Evidence("batches", 1, load.step + 1, probe.step, run=(0, len(taken), None))
        return view.silent("different", words, want, probe.batches, evidence)
    return view.passed(DOCUMENTED)


DOCUMENTED = "documented: applies to the next iter()"


def _live_batch(view: View, probe: Event, stretch: Stretch) -> Evidence:
    """Return the live iterator's batch, which may be an error, beside the loaded state's next."""
    start, taken = stretch.start, view.case.sessions[1].steps[probe.step].n
    run = (start.epoch, start.batches, start.batches + taken)
    return Evidence("batches", 1, probe.step, probe.step, 0, run, wanted="or an error")


def _next_one(view: View, load: int, probe: int) -> Finding:
    """Judge the next iteration, after the live one raised or went on."""
    stretch = next(s for s in view.of(1) if s.step > load)
    want, start = stretch.want, stretch.start
    evidence = Evidence("batches", 1, probe + 1, run=(start.epoch, start.batches, None))
    for event in (e for e in view.events(1) if e.step > probe):
        if event.fault is not None:
            words = f"the next iteration: {in_words(event.fault, len(event.batches))}"
            evidence = Evidence("error", 1, event.step, event.step, wanted="no error")
            found = view.of_fault(event.fault, len(event.batches), evidence=evidence)
            return dataclasses.replace(found, words=words)
        if event.batches:
            if event.batches == want:
                return view.passed()
            words = f"the next iteration does not resume: {show(event.batches[:1])} comes first"
            return view.silent("ignored", words, want, event.batches, evidence)
    if not want:
        return view.passed()  # nothing was left of an epoch without samples
    return view.silent("missing", "the next iteration delivers nothing", want, [], evidence)
