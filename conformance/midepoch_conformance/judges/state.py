"""State: a state is a value, and it survives its codecs."""

from __future__ import annotations

import dataclasses

from midepoch_conformance.case.trace import Fault
from midepoch_conformance.judges.registry import judge
from midepoch_conformance.judges.view import View
from midepoch_conformance.verdict.evidence import Evidence
from midepoch_conformance.verdict.finding import FAILURES, Finding, in_words

__all__: list[str] = []

_CHANGED = "the dataset's state came back"


@judge("STATE-1", "sealed late", "work sealed late")
def never_changes(view: View) -> Finding | None:
    """A state that is encoded late resumes where it was taken."""
    finding = view.all(1)
    saved, sealed = view.events(0, "save"), view.events(0, "seal")
    if not saved or not sealed or sealed[0].fault is not None:
        return finding
    if saved[0].digest == sealed[0].digest:
        return view.passed("its encoding has not changed by a byte")
    if finding.outcome not in FAILURES:
        return finding
    words = f"the state changed while the loader went on: {finding.words}"
    return dataclasses.replace(finding, words=words)


@judge("STATE-2", "edited after save")
def changed_outside(view: View) -> Finding | None:
    """Editing a state that was handed out moves nothing in the loader."""
    problem = view.problem(0)
    if problem is None:
        return view.all(1)
    edit = next((e.step for e in view.events(0, "edit")), None)
    if edit is None or problem.step < edit:
        return view.blocked(f"wrong already before the edit: {problem.words}")
    return view.of_problem(problem)


@judge("STATE-3", "codec", "work codec")
def survives(view: View) -> Finding | None:
    """A decoded state resumes."""
    finding = view.rest(1)
    if not view.case.workload.tree:
        return finding
    return dataclasses.replace(finding, needs=(*finding.needs, "STATE-6"))


@judge("STATE-4", "reload")
def loaded_and_taken_again(view: View) -> Finding | None:
    """A state that is loaded and taken again continues as the loaded one does."""
    finding = view.rest(2)
    problem = view.problem(2)
    return dataclasses.replace(finding, needs=view.needs(2, problem))


@judge("STATE-5", "edited after load")
def changed_after_load(view: View) -> Finding | None:
    """Editing a state after it was loaded moves nothing in the loader."""
    return view.rest(1)


@judge("STATE-6", "tree", "work tree")
def tree_comes_back(view: View) -> Finding | None:
    """A Stateful dataset gets the tree back that it gave."""
    for index in range(len(view.trace.sessions)):
        session = view.session(index)
        fault = session.first_fault() if session else None
        if fault is not None and _changed(fault):
            evidence = Evidence("error", index, wanted="no error")
            return view.fails("values", in_words(fault), evidence=evidence)
    return view.rest(1)


def _changed(fault: Fault) -> bool:
    return _CHANGED in fault.message
