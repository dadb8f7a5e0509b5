"""A case in words, as a reader of a report meets it (pure)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.data.rows import EMPTY_AT, FALSE
from midepoch_conformance.case.tampering import ITEMS
from midepoch_conformance.case.workload import Workload

__all__ = [
    "culprit",
    "describe",
    "describe_execution",
    "describe_step",
    "describe_workload",
    "feature_of",
    "sort_of",
]

_STREAMS = {
    "python": "random",
    "numpy": "numpy.random",
    "torch": "torch's global stream",
    "torch double": "torch's global stream in double precision",
    "own": "the loader's own stream",
    "private python": "a random.Random of the dataset's",
    "private numpy": "a NumPy generator of the dataset's",
    "private torch": "a torch.Generator of the dataset's",
}
_STREAMED = {
    "plain": "",
    "uneven": "of which the first worker has most",
    "rising": "of which the last worker has most",
    "hollow": "of which some workers have none",
    "buffer": "with a shuffle buffer",
    "packing": "whose leftovers go into the next",
    "filter": "read through a filter",
    "flatten": "read several or none at a time",
    "oneshot": "that is its own iterator and ends for ever",
    "sticky": "that begins each pass at the state loaded last",
    "looping": "that is at its beginning again when it has ended",
    "rewinding": "that is its own iterator and starts over with each",
    "set": "whose order follows from the epoch that the user sets",
    "reshuffled": "that draws its order when a pass begins and when a state is loaded",
    "begun": "that draws when a pass begins",
    "set up": "that draws when a worker sets it up",
    "divided": "that is divided when a worker sets it up",
    "counter": "that counts, as published",
    "cursor": "that keeps a cursor, as published",
    "tally": "that tallies them, as published",
    "faulty": "that raises in place of some, as published",
    "faulty cursor": "that keeps a cursor and raises in place of some, as published",
}
_STATE_AT = {
    "dataset": "",
    "iterator": "with its state on the iterator",
    "both": "with its state on the dataset and the iterator",
}
_TREES = {
    "plain": "a tree",
    "containers": "a tree of all sorts of containers",
    "arrays": "a tree of arrays",
    "tensors": "a tree of tensors",
    "growing": "a growing tree",
    "shrinking": "a shrinking tree",
    "mutated": "a tree that it changes in place",
    "flat": "a state of one number that it changes in place",
    "values": "a tree of unusual numbers and texts",
    "objects": "a tree of named tuples, queues and dates",
    "large": "a text of 300,000 characters",
}
_SAMPLERS = {
    "random": "a RandomSampler of the user's with a generator of its own",
    "replacement": "a RandomSampler with replacement with a generator of its own",
    "subset": "a SubsetRandomSampler with a generator of its own",
    "weighted": "a WeightedRandomSampler with a generator of its own",
    "batches": "a batch sampler of the user's with a generator of its own",
    "custom": "a sampler of the user's with a generator of its own",
    "stateful": "a Stateful sampler of the user's",
    "drawing": "a Stateful sampler of the user's that draws each sample when it is asked",
    "permuting": "a Stateful sampler of the user's that draws each pass from the global streams",
    "wrapped": "a sampler of the user's around two others with a generator inside",
    "prepared": "a sampler of the user's that makes its order when its epoch is set",
    "keys": "a sampler of the user's that gives keys, with three generators of its own",
    "pairs": "a sampler of the user's that gives tuples as keys, with a generator of its own",
    "integers": "a sampler of the user's that gives NumPy's integers, with a generator of its own",
    "arrays": "a batch sampler of the user's that gives arrays, with a generator of its own",
    "raising": "a sampler of the user's that raises in place of an index",
    "drawn": "a sampler of the user's that draws from the global streams",
    "reversed": "the published sampler Reversed",
    "refilled": "a batch sampler of the user's that gives one list again and again",
    "unsized": "a sampler of the user's without a length",
    "listed": "a sampler of the user's that keeps one order",
    "halted": "a sampler of the user's with a generator of its own",
    "turning": "a sampler of the user's whose epoch is set, with a generator of its own",
    "dated": "a Stateful sampler of the user's whose epoch is set",
    "permuted": "the published sampler Permuted",
    "marked": "the published sampler Marked",
    "turned": "the published sampler Turned",
    "spun": "the published sampler Spun",
    "counted": "the published sampler Counted",
    "shared": "the published sampler Shared",
    "paired": "the published batch sampler Paired",
    "grown": "the published batch sampler Grown",
    "nested": "the published batch sampler Nested",
    "distributed": "a DistributedSampler whose epoch is set before each",
}
_TAILS = {
    "drop": "incomplete batch dropped",
    "rollover": "left-over samples open the next epoch",
}
_VALUES = {
    "none": "None",
    "empty": "{}",
    "list": "a list",
    "text": "a text",
    "number": "a number",
    "foreign": "a foreign dict",
    "no_items": "[]",
    "no_text": "an empty text",
    "zero": "0",
}


def describe(case: Case, own: bool = False) -> str:
    """Return ``case`` in one sentence; ``own``: the loader iterates data of its own.

    Example:
        >>> from midepoch_conformance.case.case import Case, SessionPlan, Step
        >>> from midepoch_conformance.case.adapter import Execution
        >>> from midepoch_conformance.case.workload import Workload
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
    """Return the workload in words, its defaults left out.

    Example:
        >>> print(describe_workload(Workload("stateful_iterable", stream="buffer")))
        a Stateful iterable of 13 samples with a shuffle buffer, in batches of 4
    """
    batched = f" in batches of {w.batch_size}" if w.batch_size else ", not batched"
    words = [f"{_what(w)}{batched}"]
    if w.shuffle:
        words.append(f"shuffled with seed {w.seed}")
    if w.sampler:
        words.append(_SAMPLERS[w.sampler])
    if w.grow:
        more = _count(abs(w.grow), "sample")
        words.append(f"the user sets {more} {'more' if w.grow > 0 else 'less'} for each next epoch")
    if w.data:
        words.append(f"data {w.data}")
    if w.adopts:
        words.append("the loader given no seed")
    if w.checked:
        words.append("checked when they are made again")
    if w.skips:
        words.append("an empty rest of an epoch skipped")
    if w.tail != "keep":
        words.append(_TAILS.get(w.tail, w.tail))
    if w.draws:
        sorts = "uniform, normal and 32-bit numbers " if w.mixed else ""
        streams = " and ".join(_STREAMS.get(d, d) for d in w.draws)
        words.append(f"each drawing {sorts}from {streams}")
    if w.collated:
        words.append("each collated with draws from the same")
    if w.getitems:
        words.append("fetched a batch at once")
    if w.width > 1:
        words.append(f"each an array of {w.width} numbers")
    if w.falsy:
        words.append(f"the first {len(FALSE)} of them false values such as None, made rows later")
    if w.payload:
        words.append(f"each with {_TREES[w.payload]}")
    if w.tree:
        words.append(f"the dataset adds {_TREES[w.tree]} to its state")
        if w.tree == "shrinking":
            words.append(f"which is empty after {EMPTY_AT} rows")
    if w.unsaved:
        words.append(f"once in {w.unsaved} rows the dataset cannot tell its state")
    return ", ".join((*words, *_faults(w)))


def culprit(w: Workload) -> str:
    """Return what raises on purpose.

    Example:
        >>> culprit(Workload(fail_at=3, fails_in="collate_fn"))
        'collate_fn with sample 3'
    """
    others = f" (or {', '.join(map(str, w.fails_also))})" if w.fails_also else ""
    return f"{'collate_fn with ' * (w.fails_in == 'collate_fn')}sample {w.fail_at}{others}"


def _changed(name: str, value: object) -> str:
    """Return a field of the workload that differs in one session."""
    if name == "die_at":
        return "no worker dies" if value is None else f"sample {value} kills its process"
    if name == "interrupt_at" and value is None:
        return "no interrupt"
    if name == "dies_again":
        return "the next one dies while it is restored" if value else "the next one lives"
    if name == "fail_once":
        return "once" if value else "each time"
    if name in ("fail_at", "interrupt_at", "stop_at") and value is not None:
        return f"sample {value} {dict(_FAULTS)[name]}"
    if name == "adopts":
        return "the loader given no seed" if value else "the loader given a seed"
    if name == "gate":
        return "no sample waits" if value is None else _waits(value)
    return f"{name} {value}"


_FAULTS = (
    ("fail_at", "raises"),
    ("stop_at", "raises StopIteration"),
    ("die_at", "kills its process"),
    ("interrupt_at", "is interrupted by Ctrl-C"),
)

_WHO = {
    "dataset": "sample",
    "collate_fn": "collate_fn with sample",
    "sampler": "the sampler's index",
}

_ONCE = {"die_at": "die_once", "fail_at": "fail_once"}


def _faults(w: Workload) -> Iterator[str]:
    for field, what in _FAULTS:
        if getattr(w, field) == -1:
            yield "the dataset raises when it is set up"
        elif getattr(w, field) is not None:
            once = " once" if getattr(w, _ONCE.get(field, ""), False) else ""
            again = ", and its replacement dies while it is restored" if w.dies_again else ""
            place = w.fails_in if field in ("fail_at", "interrupt_at") else "dataset"
            who = f"{_WHO[place]} {getattr(w, field)}"
            if field == "fail_at":
                what += " StopIteration" * w.ends + " what cannot be unpickled" * w.unreadable
                what += "".join(f", and so does sample {i}" for i in w.fails_also)
            yield f"{who} {what}{once}{again if field == 'die_at' else ''}"
    if w.exits_at:
        yield ", ".join(f"sample {i} ends its worker once" for i in w.exits_at)
    if w.gate is not None:
        yield _waits(w.gate)
    if w.slow:
        yield f"samples {', '.join(map(str, w.slow))} take a while"


def _waits(gate: Any) -> str:
    return f"sample {gate[0]} waits until another worker has fetched sample {gate[1]}"


def describe_execution(x: Execution) -> str:
    """Return the execution in words, its defaults left out."""
    words = ["no workers" if x.workers == 0 else _count(x.workers, "worker")]
    if x.lanes is not None:
        words.append(_count(x.lanes, "lane"))
    if x.interval != 1:
        words.append(f"a snapshot every {x.interval} steps")
    if x.workers and x.start_method != "fork":
        words.append(f"started by {x.start_method}")
    if x.workers and x.worker_kind != "process":
        words.append(f"in {x.worker_kind}s")
    if x.restarts:
        words.append(f"dead workers replaced up to {_count(x.restarts, 'time')}")
    if x.persistent:
        words.append("persistent")
    if x.prefetch is not None:
        words.append(f"prefetch {x.prefetch}")
    if not x.in_order:
        words.append("out of order")
    if x.together:
        words.append(f"{_count(x.world, 'rank')} of a process group at the same time")
    elif x.world != 1:
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
        "drain": "deliver all up to an error or the end of the epoch"
        if step.tolerate
        else "deliver the rest of the epoch" + (", its end asked for twice" if step.n else ""),
        "break": "break the epoch off",
        "save": f"save{state}{codec}",
        "seal": f"encode{state or ' the state'} again",
        "edit": f"change every part of{state or ' the state'} in place"
        + f", its first {_count(step.n, 'level')} spared" * (step.n > 0),
        "load": f"load{state}{codec}",
        "load_merged": f"load what the states {step.state.replace('/', ', ')} make together",
        "load_bogus": f"load {_VALUES.get(step.value, step.value)}",
        "load_cut": f"load{state or ' the state'} less {_part(step.n)}",
        "load_document": f"load the published state {step.value}",
        "name_epoch": f"name epoch {step.n} as the next one",
        "overwrite": "write into all batches so far",
        "close": "close",
        "open": "open a new loader",
        "count": "count the loader's holdings",
        "kill": "kill the process",
        "lose": "kill a worker",
        "beside": f"deliver {_count(step.n, 'batch')} of another loader beside it",
        "recode": f"encode{state or ' the state'} again{codec}",
    }[step.do]
    return f"try to {words}" if step.tolerate else words


def _what(w: Workload) -> str:
    samples = _count(w.n, "sample")
    plain = {
        "map": samples,
        "iterable": f"an iterable of {samples}",
        "stateful_iterable": f"a Stateful iterable of {samples}",
        "stateful_map": f"{samples} that count fetches in their state",
    }.get(w.kind, f"{samples} ({w.kind})")
    more = [_STREAMED[w.stream], _STATE_AT[w.state_at]]
    return "".join([plain, *(f" {words}," for words in more if words)])


def _session(plan: SessionPlan, before: SessionPlan | None, names: dict[str, str]) -> str:
    steps = ", ".join(_folded(plan.steps, names)) or "do nothing"
    # A log changes nothing that is delivered.
    changed = [_changed(name, value) for name, value in plan.workload if name != "log"]
    if before is None:
        return f"({', '.join(changed)}) {steps}" if changed else steps
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
        if step.do == "drain" and not (step.tolerate or step.n):
            words.append(_drained(times, inside))
        else:
            one = describe_step(step, names)
            words.append(one if times == 1 else f"{one} ({times} times)")
        ends = ("drain", "break", "close", "open")
        goes_on = step.do == "drain" and step.tolerate
        inside = goes_on or (step.do not in ends and (inside or step.do in ("take", "load")))
    return words


def _drained(times: int, inside: bool) -> str:
    if not inside:
        return f"deliver {_count(times, 'whole epoch')}"
    more = {1: "", 2: " and the next epoch"}.get(times, f" and the next {times - 1} epochs")
    return f"deliver the rest of the epoch{more}"


def _state_names(case: Case) -> dict[str, str]:
    """Return a name for each state, if the case has more than one."""
    keys: list[str] = []
    for plan in case.sessions:
        for step in plan.steps:
            for key in (step.state, step.into):
                if key and key not in keys:
                    keys.append(key)
    return {key: f" state {key}" for key in keys} if len(keys) > 1 else {}


def _part(n: int) -> str:
    return f"its part {n}" if n < ITEMS else f"item {n - ITEMS} of its lists"


def _count(n: int, noun: str) -> str:
    plural = noun + ("es" if noun == "batch" else "s")
    return f"{n} {noun if n == 1 else plural}"


def sort_of(case: Case) -> tuple[str, str]:
    """Return the kind of a case's workload, and its feature."""
    return case.workload.kind, feature_of(case)


def feature_of(case: Case) -> str:
    """Return the unusual features of a case's workload in a few words; ``""``: there are none."""
    return str(getattr(case.workload, "feature", ""))
