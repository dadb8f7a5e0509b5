"""The families of states that cannot be continued, of faults, and of costs (pure)."""

from __future__ import annotations

from typing import Any

from midepoch_conformance.case.case import Case, Step
from midepoch_conformance.families.axes import ITERABLES, LONG, Cell, drains, load, save, take
from midepoch_conformance.families.family import probe

__all__ = ["BOGUS", "PLANS"]

ONE = ((13, 4),)
BOGUS = ("none", "empty", "list", "text", "number", "foreign")
PLANS: dict[str, tuple[tuple[str, Any], ...]] = {
    "smaller batches": (("batch_size", 3),),
    "more samples": (("n", 16),),
    "fewer samples": (("n", 7),),
    "shuffled": (("shuffle", True),),
    "not shuffled": (("shuffle", False),),
}
RANDOM_ACCESS = ("map", "files")


# States that cannot be continued.


@probe("no state", shape=ONE, value=BOGUS, tail=("keep",))
def _no_state(c: Cell) -> Case:
    steps = (Step("load_bogus", value=c.value), *drains(2))
    return c.case(c.workload(2), c.session(0, *steps))


@probe("part removed", shape=ONE, part=tuple(range(15)), kind=("map", "iterable"), tail=("keep",))
def _part_removed(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    second = c.session(1, Step("load_cut", c.part, state="s"), *drains(2))
    return c.case(c.workload(2), first, second)


@probe("other plan", shape=ONE, plan=tuple(PLANS), tail=("keep",))
def _other_plan(c: Cell) -> Case | None:
    change = dict(PLANS[c.plan])
    if change.get("shuffle", not c.shuffle) == bool(c.shuffle):
        return None
    if "n" in change and c.kind not in RANDOM_ACCESS:
        return None  # a stream has no length that a loader could compare
    if change in ({"n": c.shape[0]}, {"batch_size": c.shape[1]}):
        return None  # the same plan
    count = 1 if c.plan == "fewer samples" else 2
    if count >= c.length:
        return None  # nothing of the saved epoch is left to complete
    first = c.session(0, take(count), save("s"))
    second = c.session(1, load("s"), *drains(2), workload=PLANS[c.plan])
    return c.case(c.workload(1), first, second)


@probe("after a refusal", shape=ONE, value=BOGUS, used=(False, True), tail=("keep",))
def _after_a_refusal(c: Cell) -> Case:
    bogus = Step("load_bogus", value=c.value, tolerate=True)
    if c.used:
        steps: tuple[Step, ...] = (take(1), bogus, take(1), save("s"), *drains(2))
    else:
        steps = (bogus, Step("drain", tolerate=True), take(1), save("s"), Step("drain"))
    return c.case(c.workload(2), c.session(0, *steps))


# Faults.


@probe("killed worker", (True,), shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _killed_worker(c: Cell) -> Case:
    return c.case(c.workload(1, die_at=c.sample), c.session(0, *drains(1)))


@probe("failing sample", shape=ONE, sample=(0, 6, 12), tail=("keep",))
def _failing_sample(c: Cell) -> Case:
    return c.case(c.workload(1, fail_at=c.sample), c.session(0, *drains(1)))


@probe("stop iteration", shape=ONE, sample=(0, 6, 12), kind=("map",), tail=("keep",))
def _stop_iteration(c: Cell) -> Case:
    return c.case(c.workload(1, stop_at=c.sample), c.session(0, *drains(1)))


@probe("left behind", (True,), shape=ONE, when=("mid", "end", "broken"), tail=("keep",))
def _left_behind(c: Cell) -> Case:
    steps = {
        "mid": (take(2),),
        "end": drains(1),
        "broken": (take(1), Step("break"), take(1)),
    }[c.when]
    return c.case(c.workload(2), c.session(0, *steps, Step("close")))


# Costs.


@probe("size", shape=(LONG,), kind=("map", *ITERABLES), tail=("keep",))
def _size(c: Cell) -> Case:
    steps = (take(112), save("early"), take(800), save("late"))
    return c.case(c.workload(1), c.session(0, *steps))


@probe("calls", shape=(LONG,), kind=("stateful_iterable",), interval=(100,), tail=("keep",))
def _calls(c: Cell) -> Case:
    return c.case(c.workload(1, log="auto"), c.session(0, *drains(1)))


@probe("fetched again", shape=(LONG,), kind=("map", "stateful_iterable"), tail=("keep",))
def _fetched_again(c: Cell) -> Case:
    first = c.session(0, take(112), save("early"), take(800), save("late"))
    second = c.session(1, load("early"), take(1))
    third = c.session(2, load("late"), take(1))
    return c.case(c.workload(1, log="auto"), first, second, third)


@probe("iterated again", shape=ONE, kind=ITERABLES, tail=("keep",))
def _iterated_again(c: Cell) -> Case:
    first = c.session(0, take(2), save("s"))
    return c.case(c.workload(2, log="auto"), first, c.session(1, load("s"), *drains(2)))
