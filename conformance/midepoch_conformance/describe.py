"""A case in words, as a reader of a report meets it (pure)."""

from __future__ import annotations

import itertools

from midepoch_conformance.adapter import Execution
from midepoch_conformance.case import Case, SessionPlan, Step
from midepoch_conformance.workload import Workload

__all__ = ["describe", "describe_execution", "describe_step", "describe_workload"]

_STREAMS = {
    "python": "random",
    "numpy": "numpy.random",
    "torch": "torch's global stream",
    "own": "the loader's own stream",
}
_VALUES = {
    "none": "None",
    "empty": "{}",
    "list": "a list",
    "text": "a text",
    "number": "a number",
    "foreign": "a foreign dict",
}


def describe(case: Case, own: bool = False) -> str:
    """Return ``case`` in one sentence; ``own``: the loader iterates data of its own.

    Example:
        >>> from midepoch_conformance.case import Case, SessionPlan, Step
        >>> from midepoch_conformance.adapter import Execution
        >>> from midepoch_conformance.workload import Workload
        >>> first = (Step("take", 1), Step("save", state="a"))
        >>> second = (Step("load", state="a"), Step("drain"))
        >>> print(describe(Case("cut", Workload(n=3, batch_size=1), (
        ...     SessionPlan(Execution(workers=1), first),
        ...     SessionPlan(Execution(workers=2), second, host="b"),
        ... ))))
        3 samples in batches of 1, 1 worker: deliver 1 batch, save; \
in a new process (2 workers) load, deliver the rest of the epoch
    """
    first = case.sessions[0].execution if case.sessions else Execution()
    data = "the loader's own data" if own else describe_workload(case.workload)
    head = f"{data}, {describe_execution(first)}"
    names = _state_names(case)
    parts = [
        _session(plan, case.sessions[index - 1] if index else None, names)
        for index, plan in enumerate(case.sessions)
    ]
    return f"{head}: {'; '.join(parts)}"


def describe_workload(w: Workload) -> str:
    """Return the workload in words, its defaults left out."""
    words = [f"{_what(w)} in batches of {w.batch_size}"]
    if w.shuffle:
        words.append(f"shuffled with seed {w.seed}")
    if w.tail != "keep":
        words.append("incomplete batch dropped")
    if w.draws:
        words.append("each drawing from " + " and ".join(_STREAMS.get(d, d) for d in w.draws))
    if w.tree:
        words.append("the dataset adds a tree to its state")
    for field, what in (
        ("fail_at", "raises"),
        ("stop_at", "raises StopIteration"),
        ("die_at", "kills its process"),
    ):
        if getattr(w, field) is not None:
            words.append(f"sample {getattr(w, field)} {what}")
    return ", ".join(words)


def describe_execution(x: Execution) -> str:
    """Return the execution in words, its defaults left out."""
    words = ["no workers" if x.workers == 0 else _count(x.workers, "worker")]
    if x.lanes is not None:
        words.append(_count(x.lanes, "lane"))
    if x.interval != 1:
        words.append(f"a snapshot every {x.interval} steps")
    if x.workers and x.start_method != "fork":
        words.append(f"started by {x.start_method}")
    if x.persistent:
        words.append("persistent")
    if x.prefetch is not None:
        words.append(f"prefetch {x.prefetch}")
    if not x.in_order:
        words.append("out of order")
    if x.world != 1:
        words.append(f"rank {x.rank} of {x.world}")
    return ", ".join(words)


def describe_step(step: Step, names: dict[str, str] | None = None) -> str:
    """Return one step in words; ``names`` are the words for states, by key."""
    state = (names or {}).get(step.state, "")
    codec = f" through {step.codec}" if step.codec else ""
    words = {
        "take": "deliver all batches, the end not asked for"
        if step.n == -1
        else f"deliver {_count(step.n, 'batch')}",
        "drain": "deliver the rest of the epoch",
        "break": "break the epoch off",
        "save": f"save{state}{codec}",
        "seal": f"encode{state or ' the state'} again",
        "edit": f"change every part of{state or ' the state'} in place",
        "load": f"load{state}{codec}",
        "load_bogus": f"load {_VALUES.get(step.value, step.value)}",
        "load_cut": f"load{state or ' the state'} less its part {step.n}",
        "load_document": f"load the published state {step.value}",
        "close": "close",
    }[step.do]
    return f"try to {words}" if step.tolerate else words


def _what(w: Workload) -> str:
    samples = _count(w.n, "sample")
    return {
        "map": samples,
        "iterable": f"an iterable of {samples}",
        "stateful_iterable": f"a Stateful iterable of {samples}",
        "files": f"{samples} in shards on disk",
    }.get(w.kind, f"{samples} ({w.kind})")


def _session(plan: SessionPlan, before: SessionPlan | None, names: dict[str, str]) -> str:
    steps = ", ".join(_folded(plan.steps, names)) or "do nothing"
    if before is None:
        return steps
    changed = [f"{name} {value}" for name, value in plan.workload]
    if plan.execution != before.execution:
        changed.insert(0, describe_execution(plan.execution))
    if (plan.host, plan.ambient) == (before.host, before.ambient):
        changed.append("the same hash seed and random streams")
    where = f"in a new process ({', '.join(changed)})" if changed else "in a new process"
    return f"{where} {steps}"


def _folded(steps: tuple[Step, ...], names: dict[str, str]) -> list[str]:
    """Return the steps in words, equal neighbours as one."""
    words: list[str] = []
    inside = False  # an epoch is open, or was when the loaded state was taken
    for step, run in itertools.groupby(steps):
        times = len(list(run))
        if step.do == "drain":
            words.append(_drained(times, inside))
        else:
            one = describe_step(step, names)
            words.append(one if times == 1 else f"{one} ({times} times)")
        inside = step.do not in ("drain", "break") and (inside or step.do in ("take", "load"))
    return words


def _drained(times: int, inside: bool) -> str:
    if not inside:
        return f"deliver {_count(times, 'whole epoch')}"
    more = {1: "", 2: " and the next epoch"}.get(times, f" and the next {times - 1} epochs")
    return f"deliver the rest of the epoch{more}"


def _state_names(case: Case) -> dict[str, str]:
    """Name states only where there is more than one to speak of."""
    keys: list[str] = []
    for plan in case.sessions:
        for step in plan.steps:
            for key in (step.state, step.into):
                if key and key not in keys:
                    keys.append(key)
    return {key: f" state {key}" for key in keys} if len(keys) > 1 else {}


def _count(n: int, noun: str) -> str:
    plural = noun + ("es" if noun == "batch" else "s")
    return f"{n} {noun if n == 1 else plural}"
