"""State: a state is a value, and it survives its codecs."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.trace import Event
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import FAILURES, Finding, in_words

__all__: list[str] = []


@judge("STATE-1", "sealed late", "work sealed late")
def never_changes(view: View) -> Finding | None:
    """A state that is encoded late resumes where it was taken."""
    last = len(view.case.sessions) - 1
    early = view.before(last)
    if early is not None:
        return early
    sealed = view.events(last - 1, "seal")
    for event in (e for e in sealed if e.altered is not None):
        words = f"the state changed while the loader went on: {event.altered}"
        return view.silent("different", words, evidence=_altered(last - 1, event))
    finding = view.all(last)
    if not sealed or finding.outcome not in FAILURES:
        return finding
    saved = {_state(view, last - 1, e): e.digest for e in view.events(last - 1, "save")}
    if all(saved.get(_state(view, last - 1, e)) == e.digest for e in sealed):
        return view.passed("its encoding has not changed by a byte")
    words = f"the state changed while the loader went on: {finding.words}"
    return dataclasses.replace(_resumed(view, finding, last), words=words)


@judge("STATE-2", "edited after save", "work edited after save", "keys edited")
def changed_outside(view: View) -> Finding | None:
    """Editing a state that was handed out moves nothing in the loader."""
    last = len(view.case.sessions) - 1
    early = view.before(last - 1)
    if early is not None:
        return early
    problem = view.problem(last - 1)
    if problem is None:
        return _resumed(view, view.all(last), last)
    edit = next((e.step for e in view.events(last - 1, "edit")), None)
    if edit is None or problem.step < edit:
        return view.blocked(f"wrong already before the edit: {problem.words}")
    return _resumed(view, view.of_problem(problem), last - 1)


@judge("STATE-3", "codec", "work codec")
def survives(view: View) -> Finding | None:
    """A decoded state resumes."""
    if not view.case.workload.tree:
        return view.all(1)
    finding = _changed(view) or view.all(1)
    return dataclasses.replace(finding, needs=(*finding.needs, "STATE-6"))


@judge("STATE-4", "reload")
def loaded_and_taken_again(view: View) -> Finding | None:
    """A state that is loaded and taken again continues as the loaded one does."""
    finding = view.all(2)
    problem = view.problem(2)
    return dataclasses.replace(finding, needs=view.needs(2, problem))


@judge("STATE-5", "edited after load", "work edited after load", "keys edited")
def changed_after_load(view: View) -> Finding | None:
    """Editing a state after it was loaded moves nothing in the loader, nor in its states."""
    finding = view.all(1)
    last = len(view.case.sessions) - 1
    if last == 1 or finding.outcome != "pass":
        return finding
    return _resumed(view, view.all(last), last)


@judge("STATE-7", "loaded by reference", "work by reference")
def left_as_it_is(view: View) -> Finding | None:
    """A state is after its load what it was before, as long as the loader lives."""
    for event in view.events(1, "load", "seal"):
        if event.altered is not None:
            when = "by the load" if event.do == "load" else "while the loader goes on"
            words = f"the loaded state is changed {when}: {event.altered}"
            return view.silent("different", words, evidence=_altered(1, event))
    early = view.before(1)
    if early is not None:
        return early
    problem = view.problem(1)
    if problem is not None:
        return view.blocked(f"the resume is wrong itself: {problem.words}")
    return view.passed()


@judge("STATE-6", "tree", "work tree", "work tree in place")
def tree_comes_back(view: View) -> Finding | None:
    """A Stateful dataset gets the tree back that it gave."""
    return _changed(view) or view.all(1)


def _changed(view: View) -> Finding | None:
    """Return the failure that a dataset's own state came back changed, as the dataset says."""
    for index in range(len(view.trace.sessions)):
        session = view.session(index)
        fault = session.first_fault() if session else None
        if fault is not None and "the dataset's state came back" in fault.message:
            evidence = Evidence("error", index, wanted="no error")
            return view.fails("values", in_words(fault), evidence=evidence)
    return None


def _resumed(view: View, finding: Finding, index: int) -> Finding:
    """Return a finding with the prerequisites of resuming from a resumed session's state."""
    needed = (*finding.needs, *view.needs(index, view.problem(index)))
    if len(view.case.sessions) > 2:
        needed = (*needed, "RESUME-2", "RESUME-3")
    return dataclasses.replace(finding, needs=tuple(dict.fromkeys(needed)))


def _altered(session: int, event: Event) -> Evidence:
    return Evidence("altered", session, last=event.step)


def _state(view: View, session: int, event: Event) -> str:
    return view.case.sessions[session].steps[event.step].state
