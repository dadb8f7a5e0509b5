"""The facts of each resume of a history, as the model sees them (pure).

A resume is a load with all that led to it and all that follows it. Facts that hold of one resume
are *played together*: the drawing of histories combines them in pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from midepoch_conformance.case.adapter import Execution, Offer
from midepoch_conformance.case.case import Case, SessionPlan, Step
from midepoch_conformance.case.data.sources import GENERATORS
from midepoch_conformance.case.history import FAULTS, Course, Mark, dies
from midepoch_conformance.case.uninterrupted import usual_length
from midepoch_conformance.case.workload import Workload

__all__ = [
    "AXES",
    "ENDED",
    "SAMPLERS",
    "SAVED",
    "Fact",
    "Value",
    "in_order",
    "offered_values",
    "resumes",
]

Value = str | int | bool | None
Fact = tuple[str, Value]
"""The name of an axis and its value, or ``"reached"`` and a state of the model."""

SAVED = ("start", "first", "middle", "last", "end", "after the end", "at once")
"""The place of the loaded state's save: before the first batch, after the first, in the middle,
before the last, after the last with the end unseen, after the end, and right after a load."""

ENDED = (
    "stopped", "killed", "closed", "reopened", "in place", "live", "error", "interrupted",
    "worker lost",
)  # fmt: skip
"""The event before the load: the process stopped, was killed, or closed its loader; the loader was
opened again in the same process, was used before, or had a live iterator; a sample raised, Ctrl-C
came while a sample was made, or a worker died after a resume."""

SAMPLERS = ("", "random", "replacement", "subset", "weighted", "batches", "custom", "stateful",
            "drawing", "permuting", "distributed", "prepared")  # fmt: skip
PREFETCH = (None, 1, 2, 4)
LATE, MANY = 3, 4
"""Epochs from the one and resumes from the other on count as equal."""


def offered_values(offer: Offer) -> dict[str, tuple[Value, ...]]:
    """Return the axes whose values are combined, with the values that a loader offers.

    Example:
        >>> offered_values(Offer())["resumes"]
        (1, 2, 3, 4)
    """
    workers = max(offer.workers, default=0) > 0
    needed = {
        "": set[str](),
        "distributed": {"set_epoch"},
        "prepared": {"set_epoch", "samplers"},
        "permuting": {"samplers", "midepoch"},
    }
    known = {*offer.extras, *offer.formats}
    samplers = tuple(name for name in SAMPLERS if needed.get(name, {"samplers"}) <= known)
    places = {"start": "start", "end": "end+mid", "after the end": "end"}
    saved = tuple(
        place
        for place in SAVED
        if all(one in offer.saves for one in places.get(place, "mid").split("+"))
    )
    maps = {"map", "stateful_map"} & set(offer.kinds)
    unusual = (
        "",
        *(("a sample that raises",) if maps and offer.name != "own" else ()),
        *(("a collate_fn that raises",) if maps and "failing collate" in offer.extras else ()),
        *(("a length that changes",) if "map" in maps and "growing" in offer.extras else ()),
        *(("a collate_fn that draws",) if "collating" in offer.extras and offer.draws else ()),
        *(("batches fetched at once",) if maps and "getitems" in offer.extras else ()),
    )
    impossible = {"live"} if offer.boundary == "stream" else set()
    impossible |= set() if workers and "process" in offer.worker_kinds else {"worker lost"}
    return {
        "kind": offer.kinds,
        "workers": tuple(sorted(offer.workers)),
        "interval": offer.intervals or (1,),
        "prefetch": PREFETCH if workers else (None,),
        "persistent": offer.persistent if workers else (False,),
        "tail": offer.tails,
        "shuffle": offer.shuffles,
        "sampler": samplers,
        "draws": ("", *offer.draws),
        "unusual": unusual,
        "saved": saved,
        "ended": tuple(one for one in ENDED if one not in impossible),
        "resumes": tuple(range(1, MANY + 1)),
    }


AXES = tuple(offered_values(Offer()))
"""The axes of which every pair of offered values is played together."""


def resumes(case: Case) -> list[frozenset[Fact]]:
    """Return the facts of each resume of a history, in the order of its loads.

    Example:
        >>> sessions = (Step("take", 2), Step("save", state="s")), (Step("load", state="s"),)
        >>> plans = tuple(SessionPlan(Execution(), steps) for steps in sessions)
        >>> [facts] = resumes(Case("history", Workload(n=13, batch_size=4), plans))
        >>> sorted(fact for fact in facts if fact[0] in ("saved", "ended", "reached"))
        [('ended', 'stopped'), ('reached', 'a tail'), ('saved', 'middle')]
    """
    walk = _Walk(case)
    for index in range(len(case.sessions)):
        walk.session(index)
    return [frozenset(facts) for facts in walk.found]


@dataclasses.dataclass(frozen=True)
class _Saved:
    """A state: how many resumes led to it, the execution that saved it, and its facts."""

    resumes: int
    execution: Execution
    facts: frozenset[Fact]


class _Walk:
    """Follows a history and collects the facts of its resumes."""

    def __init__(self, case: Case) -> None:
        self.case, self.course = case, Course(case.workload)
        self.of_workload = frozenset(_of_workload(case.workload))
        self.saved: dict[str, _Saved] = {}
        self.loaded: set[str] = set()
        self.found: list[set[Fact]] = []
        self.before = ""

    def session(self, index: int) -> None:
        """Follow a session from its beginning."""
        plan, workload = self.case.sessions[index], self.case.session_workload(index)
        self.course.begin(workload, plan)
        self.plan, self.faulty = plan, _fault_of(self.case.workload, workload)
        self.ended = self.before
        self._anew()
        for step in plan.steps:
            getattr(self, f"_{step.do}", self._other)(step)
        self.before = self.faulty or _leaving(plan)

    def _anew(self) -> None:
        self.now: set[Fact] = set()  # the facts of the resume that is under way
        self.resumes, self.delivered, self.broke = 0, -1, False

    def _reach(self, *words: str) -> None:
        self.now.update(("reached", one) for one in words)

    # The steps.

    def _take(self, step: Step) -> None:
        count = self.course.left if step.n == -1 else step.n
        self._faults()
        self._delivering(count)
        self.course.follow(step)
        if count == 0:
            self._reach("an untouched iterator")

    def _drain(self, step: Step) -> None:
        self._faults()
        self._reach("a later epoch" if ("reached", "an end") in self.now else "an end")
        self._delivering(self.course.left)
        self.course.follow(step)

    def _delivering(self, count: int) -> None:
        self.delivered = max(self.delivered, 0) + count
        if not self.resumes:
            self.ended = self.faulty or "in place"

    def _faults(self) -> None:
        w, mark = self.course.seen, self.course.mark
        if not (self.faulty and self.resumes):
            return
        self._reach("a fault after a resume")
        samples = [at for name in FAULTS if (at := getattr(w, name)) is not None]
        first = any(at // (w.batch_size or 1) == mark.done for at in samples)
        if first and in_order(w) and self.delivered <= 0:
            self._reach("a fault in the first batch")

    def _break(self, step: Step) -> None:
        if self.course.moved and not self.course.stale:
            self._reach("an epoch broken off")
            self.broke = True
        self.course.follow(step)

    def _save(self, step: Step) -> None:
        course = self.course
        facts = set(_of_position(course.seen, self.plan.execution, course.mark))
        workers = self.plan.execution.workers
        if self.delivered == 0 or (self.delivered < 0 and self.resumes):
            facts.add(("saved", "at once"))
        elif course.mark == Mark(sure=course.mark.sure):
            facts.add(("saved", "start"))
        if self.resumes and self.delivered < workers:
            facts.add(("reached", "fewer batches since the load than workers"))
        if self.broke:
            facts.add(("reached", "saved after a broken epoch"))
        if course.seen.interrupt_at is not None and self.resumes and self.delivered > 0:
            facts.add(("reached", "saved after an interrupt"))
        if self.resumes > 1 and course.mark.epoch >= LATE:
            facts.add(("reached", "a late epoch of a resumed resume"))
        if step.codec:
            facts.add(("codec", step.codec))
        self._reach("saved again")
        self.saved[step.state] = _Saved(self.resumes, self.plan.execution, frozenset(facts))
        course.follow(step)

    def _seal(self, step: Step) -> None:
        self._derived(step, "encoded late")

    def _recode(self, step: Step) -> None:
        self._derived(step, "encoded twice")

    def _derived(self, step: Step, how: str) -> None:
        one = self.saved[step.state]
        facts = one.facts | {("reached", how)}
        self.saved[step.into] = dataclasses.replace(one, facts=facts)
        self.course.follow(step)

    def _edit(self, step: Step) -> None:
        self._reach("a state edited")
        self.course.follow(step)

    def _load_bogus(self, step: Step) -> None:
        self._reach("a value refused")
        self.course.follow(step)

    def _load(self, step: Step) -> None:
        one, x = self.saved[step.state], self.plan.execution
        ended = "live" if self.course.open else self.ended or "in place"
        if self.course.spent:
            ended = "error"
        facts = {*self.of_workload, *one.facts, *_of_execution(x), ("ended", ended)}
        facts |= {("resumes", min(one.resumes + 1, MANY)), *_changes(one.execution, x)}
        if step.state in self.loaded:
            facts.add(("reached", "loaded again"))
        elif step.state != next(reversed(self.saved)):
            facts.add(("reached", "an older state"))
        if self.broke:
            facts.add(("reached", "loaded after a broken epoch"))
        if self.course.seen.adopts:
            facts.add(("reached", "a seed adopted"))
        if self.course.seen.die_once:
            facts.add(("reached", "a worker replaced"))
        if self.course.seen.dies_again:
            facts.add(("reached", "a replacement replaced"))
        self.loaded.add(step.state)
        self._anew()
        self.now, self.resumes, self.ended = facts, one.resumes + 1, "in place"
        self.found.append(facts)
        self.course.follow(step)

    def _beside(self, step: Step) -> None:
        self._reach("another loader beside it")
        self.course.follow(step)

    def _lose(self, step: Step) -> None:
        self._reach("a worker lost and replaced")
        self.course.follow(step)

    def _open(self, step: Step) -> None:
        self._anew()
        self.ended = "reopened"
        self.course.follow(step)

    def _other(self, step: Step) -> None:
        self.course.follow(step)


def in_order(w: Workload) -> bool:
    """Return whether the samples come in the order of their ids, whatever the lanes."""
    return w.kind == "map" and not (w.shuffle or w.sampler)


def _leaving(plan: SessionPlan) -> str:
    last = plan.steps[-1].do if plan.steps else ""
    return {"kill": "killed", "close": "closed"}.get(last, "stopped")


def _fault_of(usual: Workload, w: Workload) -> str:
    if dies(w):
        return "worker lost"
    if w.interrupt_at is not None:
        return "interrupted"
    return "error" if (w.fail_at, w.stop_at) != (usual.fail_at, usual.stop_at) else ""


def _of_workload(w: Workload) -> Iterator[Fact]:
    yield from (("kind", w.kind), ("tail", w.tail), ("shuffle", w.shuffle), ("sampler", w.sampler))
    yield from (("draws", draw) for draw in w.draws or ("",))
    if w.kind in ("iterable", "stateful_iterable"):
        yield ("stream", w.stream)
        yield ("state at", w.state_at)
    if w.kind in ("stateful_iterable", "stateful_map"):
        yield ("tree", w.tree)
    if w.mixed:
        yield ("reached", "normal numbers and 32 bits")
    unusual = {
        "a sample that raises": w.fail_at is not None and w.fails_in == "dataset",
        "a collate_fn that raises": w.fails_in == "collate_fn" and w.fail_at is not None,
        "a length that changes": w.grow != 0,
        "a collate_fn that draws": w.collated,
        "batches fetched at once": w.getitems,
    }
    found = [words for words, holds in unusual.items() if holds]
    yield from (("unusual", words) for words in found or ("",))
    yield from (("reached", words) for words, holds in _asked(w).items() if holds)
    if w.batch_size and w.n % w.batch_size:
        yield ("reached", "a tail" if w.tail != "drop" else "a tail dropped")
    if w.n < w.batch_size:
        yield ("reached", "less than a batch")


def _asked(w: Workload) -> dict[str, bool]:
    """Return what else a user may ask of a loader, and whether this one does."""
    return {
        "no batches": not w.batch_size,
        "a check of what is made again": w.checked,
        "states that cannot be taken": w.unsaved != 0,
        "an empty rest skipped": w.skips,
    }


def _of_execution(x: Execution) -> Iterator[Fact]:
    yield from (("workers", x.workers), ("interval", x.interval))
    yield from (("prefetch", x.prefetch), ("persistent", x.persistent))
    if x.workers:
        yield ("workers'", x.worker_kind)


def _changes(before: Execution, after: Execution) -> Iterator[Fact]:
    if before.workers != after.workers:
        more = "more" if before.workers < after.workers else "fewer" if after.workers else "no"
        yield ("reached", f"{more} workers than before")
    for name in ("interval", "prefetch", "persistent", "worker_kind"):
        both = name == "interval" or (before.workers and after.workers)
        if both and getattr(before, name) != getattr(after, name):
            yield ("reached", f"another {name} than before")


def _of_position(w: Workload, x: Execution, mark: Mark) -> Iterator[Fact]:
    """Yield the facts of a state at a position, beside the steps that led to it."""
    length, done = usual_length(w, x, mark.epoch), mark.done
    left = length - done
    yield ("epoch", min(mark.epoch, LATE))
    if not done:
        if mark.epoch:
            yield ("saved", "after the end")
    elif left <= 0:
        yield ("saved", "end")
    else:
        places = [("first", done == 1), ("last", left == 1)]
        yield from (("saved", name) for name, holds in places if holds)
        if done > 1 and left > 1:
            yield ("saved", "middle")
    if 0 < left < x.workers:
        yield ("reached", "fewer batches left than workers")
    if x.workers and left > 0:
        full = left > x.workers * (x.prefetch or 2)
        yield ("reached", "a full window" if full else "a window beyond the end")
    yield from (("reached", words) for words in _of_interval(w, x, mark, length))
    yield from (("reached", words) for words in _of_lanes(w, x, mark))
    if w.tail == "rollover" and w.n * mark.epoch % w.batch_size:
        yield ("reached", "a carried rest")


def _of_interval(w: Workload, x: Execution, mark: Mark, length: int) -> Iterator[str]:
    if w.kind == "iterable" and mark.done and not any(draw in GENERATORS for draw in w.draws):
        yield "a replay from the beginning"
    if x.interval == 1:
        return
    yield "off the interval" if mark.done % x.interval else "on the interval"
    if x.interval > length:
        yield "an interval longer than the epoch"
    if mark.epoch and mark.done < x.interval:
        yield "a snapshot of the pass before"


def _of_lanes(w: Workload, x: Execution, mark: Mark) -> Iterator[str]:
    """Yield the facts of a stream's lanes, which take turns until they end."""
    if w.kind not in ("iterable", "stateful_iterable"):
        return
    count = max(1, x.workers if x.lanes is None else x.lanes)
    if count != max(1, x.workers):
        yield "more lanes than workers" if count > x.workers else "fewer lanes than workers"
    size = w.batch_size or 1
    spare = 0 if w.tail == "drop" else size - 1
    batches = [(len(w.share(lane, count)) + spare) // size for lane in range(count)]
    lasts = [
        sum(min(other, own - (i > lane)) for i, other in enumerate(batches))
        for lane, own in enumerate(batches)
        if own
    ]
    if lasts and len(lasts) < count:
        yield "an empty lane"
    if any(last <= mark.done < max(lasts) for last in lasts):
        yield "an ended lane"
