"""Drawn states of the reference loader, continued by the second loader.

``MIDEPOCH_SECOND_STATES`` says how many states are drawn.
"""

from __future__ import annotations

import copy
import os
import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import drawn_sources
import pytest
import second
import second_loader
from second_samplers import ReplayMismatchError

import midepoch.errors
from midepoch import StatefulDataLoader
from midepoch.errors import ReplayWarning, SnapshotWarning, StateFormatError

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::midepoch.errors.{warning.__name__}")
    for warning in (ReplayWarning, SnapshotWarning)
]

STATES = int(os.environ.get("MIDEPOCH_SECOND_STATES", "100"))
WORKED = 0.03
"""The share of executions that have workers."""

EPOCHS = 3
"""How many epochs are compared, the saved one included."""

Drawn = dict[str, Any]
KINDS = {**drawn_sources.DATASETS, **drawn_sources.ITERABLES}
SAMPLERS = {
    **drawn_sources.SAMPLERS,
    **drawn_sources.BATCH_SAMPLERS,
    **drawn_sources.DRAWING,
}


def keep(value: Any) -> Any:
    return value


def objects(drawn: Drawn) -> dict[str, Any]:
    """Return new objects of the user's."""
    names = {name: drawn[name] for name in ("sampler", "batch_sampler") if drawn[name]}
    made = {name: SAMPLERS[kind](drawn["n"]) for name, kind in names.items()}
    return {"dataset": KINDS[drawn["dataset"]](drawn["n"]), **made}


def taken(batches: Iterator[Any], count: int = 500) -> list[Any]:
    """Take batches; an error takes a batch's place, and "end" follows the last one."""
    found: list[Any] = []
    while len(found) < count:
        try:
            found.append(next(batches))
        except OSError as error:
            found.append(str(error).strip().rpartition(": ")[2])  # without where it was raised
        except StopIteration:
            return [*found, "end"]
    return found


class Reference:
    """A reference loader, as a program uses it."""

    def __init__(self, drawn: Drawn, **execution: Any) -> None:
        made = objects(drawn)
        self.set_epoch = getattr(made.get("sampler"), "set_epoch", keep)
        self.loader = StatefulDataLoader(
            **made,
            **drawn["plan"],
            collate_fn=keep,
            worker_init_fn=drawn_sources.set_up,
            lifetime=drawn["lifetime"],
            **execution,
        )
        self.unordered = not execution.get("in_order", True)
        self.epoch = 0
        self.iterator: Iterator[Any] | None = None

    def load(self, state: dict[str, Any]) -> None:
        self.loader.load_state_dict(state)
        self.epoch = state["position"]["epoch"]

    def take(self, count: int = 500) -> list[Any]:
        if self.iterator is None:
            if self.loader.state_dict()["position"]["batches"] == 0:
                self.set_epoch(self.epoch)
            self.iterator = iter(self.loader)
        found = taken(self.iterator, count)
        if found and found[-1] == "end":
            self.iterator = None
            self.epoch += 1
        return found

    def leave(self) -> None:
        """Break the epoch off, and open the next one."""
        self.epoch = self.loader.state_dict()["position"]["epoch"]
        self.epoch += self.loader.state_dict()["position"]["batches"] > 0
        self.set_epoch(self.epoch)
        self.iterator = iter(self.loader)


def continued(drawn: Drawn, state: dict[str, Any]) -> list[Any]:
    """Return the epochs that the second loader gives."""
    made = objects(drawn)
    set_epoch = getattr(made.get("sampler"), "set_epoch", keep)
    length = None if state["plan"]["length"] is None else drawn["n"]
    plan = {**copy.deepcopy(state["plan"]), "length": length}
    loader = second_loader.Loader(
        **made,
        state=state,
        plan=plan,
        collate=keep,
        set_up=drawn_sources.set_up,
        informed=drawn_sources.informed,
    )
    found = []
    if state["position"]["batches"] == 0:
        set_epoch(state["position"]["epoch"])
    for number, epoch in enumerate(islice(loader.epochs(), EPOCHS), state["position"]["epoch"] + 1):
        found.append(taken(epoch))
        set_epoch(number)
    return found


def loader(draw: random.Random) -> Drawn:
    """Draw a loader: the user's objects, the plan and the lifetime."""
    drawn: Drawn = {"n": draw.choice([0, 1, 3, 6, 11, 17, 23]), "lifetime": "run"}
    drawn |= {"sampler": None, "batch_sampler": None}
    order = draw.choice(["built-in", "iterable", "iterable", "sampler", "sampler", "batch_sampler"])
    kinds = drawn_sources.ITERABLES if order == "iterable" else drawn_sources.DATASETS
    drawn["dataset"] = draw.choice(sorted(kinds))
    plan: Drawn = {"seed": draw.choice([0, 7, 2**53 + 1, 2**64 - 1]), "lanes": draw.randrange(4)}
    if draw.random() < 0.3:
        drawn["lifetime"] = "epoch"
    if order == "built-in":
        plan["shuffle"] = drawn["n"] > 0 and draw.random() < 0.7
    elif order == "sampler":
        drawn |= {"sampler": draw.choice(sorted(drawn_sources.SAMPLERS))}
    elif order == "batch_sampler":
        drawn |= {"batch_sampler": draw.choice(sorted(drawn_sources.BATCH_SAMPLERS))}
    if order in ("sampler", "batch_sampler"):
        drawn["n"] = max(1, drawn["n"])
    if order != "batch_sampler":
        plan["batch_size"] = draw.choice([None, 1, 2, 2, 3, 4])
        plan["drop_last"] = plan["batch_size"] is not None and draw.random() < 0.3
        whole = plan["batch_size"] is None or plan["drop_last"] or order == "iterable"
        if not whole and draw.random() < 0.5:
            plan["last_batch"] = "rollover"
    if drawn["dataset"] == "Unsteady":
        drawn["lifetime"] = "epoch"  # the next epoch of an ended lane: see the last tests
    return {**drawn, "plan": plan}


def execution(draw: random.Random) -> Drawn:
    """Draw how batches are produced."""
    found: Drawn = {"snapshot_every_n_steps": draw.choice([0, 1, 3, 100])}
    if draw.random() < WORKED:
        found |= {"num_workers": draw.choice([1, 2]), "persistent_workers": draw.random() < 0.5}
        found["in_order"] = draw.random() < 0.5
    return found


@pytest.mark.parametrize("number", range(STATES))
def test_a_drawn_state_is_continued(number: int) -> None:
    draw = random.Random(number)
    drawn, runs_as = loader(draw), execution(draw)
    run, history = Reference(drawn, **runs_as), []
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        history.append((draw.choice(["drain", "break", "load"]), draw.choice([0, 3, 4, 5])))
        operation, count = history[-1]
        run.take(500 if operation == "drain" else count)
        if operation == "break" and count:
            run.leave()
        elif operation == "load":
            state = run.loader.state_dict()
            run = Reference(drawn, **execution(draw))
            run.load(state)
    moment = draw.choice(["within", "within", "seen", "left", "left", "ahead", "grown"])
    count = draw.randrange(9)
    if moment == "left":  # after others, each lane once, and a snapshot of a sampler in this pass
        count += 3 if any(operation != "drain" for operation, _ in history) else 1
    run.take(500 if moment in ("seen", "grown") else count)
    if moment == "left":
        run.leave()
    state, expected = copy.deepcopy(run.loader.state_dict()), list[Any]()
    if moment == "ahead" and state["lanes"] is None and not run.unordered:
        expected = out_of_order(run, state, draw.randrange(8))
    grown = moment == "grown" and state["plan"]["length"] is not None
    if grown:
        drawn["n"] = max(1, drawn["n"] + draw.choice([-1, 1, 5]))
    resumed = Reference({**drawn, "lifetime": "run"})
    resumed.load(copy.deepcopy(state))
    if run.unordered or grown:
        expected = [resumed.take() for _ in range(EPOCHS)]
    else:
        expected += [run.take() for _ in range(EPOCHS - len(expected))]
        found = [resumed.take() for _ in range(EPOCHS)]
        assert found == expected, ("the reference", drawn, history)
    assert continued(drawn, state) == expected, (drawn, history, moment, count, state)


def out_of_order(run: Reference, state: Drawn, pattern: int) -> list[Any]:
    """Make a state one of delivery out of order, and return the rest of its epoch.

    Some of the next batches count as delivered, as the bits of ``pattern`` say, but not the first.
    """
    position, left = state["position"], list[Any]()
    before, index = copy.deepcopy(position), position["batches"]
    while not left or left[-1] != "end":
        [found] = run.take(1)
        if state["sampler"] and found != "end":  # a program sets the epoch when it begins one
            state["sampler"]["epoch"] = run.loader.state_dict()["sampler"]["epoch"]
        after = run.loader.state_dict()["position"]
        if found != "end" and index > before["batches"] and pattern >> (index % 3) & 1:
            position["ahead"].append(index)
            position["batches"] += 1
            position["samples"] += after["samples"] - before["samples"]
            position["digest"] = after["digest"]
        else:
            left.append(found)
        before["samples"], index = after["samples"], index + 1
    return [left]


LOADERS = ["the second", "the reference"]
PLAN = {"seed": 2, "lanes": 0, "batch_size": 2}


@pytest.mark.parametrize("by", LOADERS)
@pytest.mark.parametrize("sampler", sorted(drawn_sources.DRAWING))
def test_a_second_iteration_of_a_sampler_draws_as_the_first(sampler: str, by: str) -> None:
    drawn: Drawn = {"n": 11, "dataset": "Plain", "sampler": sampler, "batch_sampler": None}
    run = Reference({**drawn, "lifetime": "run", "plan": PLAN})
    run.take()
    continues(run, {**drawn, "lifetime": "run", "plan": PLAN}, by)


@pytest.mark.parametrize("by", LOADERS)
def test_an_ended_lane_is_replayed_if_its_end_could_not_be_saved(by: str) -> None:
    drawn: Drawn = {"n": 5, "dataset": "Unsteady", "sampler": None, "batch_sampler": None}
    run = Reference({**drawn, "lifetime": "run", "plan": PLAN})
    run.take(3)
    assert run.loader.state_dict()["lanes"]["entries"][0]["ended"]
    continues(run, {**drawn, "lifetime": "run", "plan": PLAN}, by)


def continues(run: Reference, drawn: Drawn, by: str) -> None:
    state = copy.deepcopy(run.loader.state_dict())
    expected = [run.take() for _ in range(EPOCHS)]
    if by == "the second":
        found = continued(drawn, state)
    else:
        resumed = Reference(drawn)
        resumed.load(state)
        found = [resumed.take() for _ in range(EPOCHS)]
    assert found == expected


@pytest.mark.parametrize("by", LOADERS)
def test_a_lane_that_replays_from_below_the_samplers_snapshot_is_refused(by: str) -> None:
    drawn: Drawn = {"n": 17, "dataset": "Counting", "sampler": "SkippingSampler"}
    drawn |= {"batch_sampler": None, "lifetime": "run", "plan": PLAN}
    run, resumed = Reference(drawn), Reference(drawn)
    run.take(5)
    state = copy.deepcopy(run.loader.state_dict())
    assert state["sampler"]["batches"] > 0
    state["lanes"]["entries"][0] |= {"dataset": None, "stated": [], "ordinal": 0, "replay": 5}
    refused = False
    try:
        resumed.load(state) if by == "the reference" else continued(drawn, state)
    except (StateFormatError, second.StateFormatError):
        refused = True
    assert refused


def test_an_epoch_that_is_set_within_the_saved_one_is_refused() -> None:
    drawn: Drawn = {"n": 17, "dataset": "Plain", "sampler": "SkippingSampler"}
    drawn |= {"batch_sampler": None, "lifetime": "run", "plan": PLAN}
    run, made = Reference(drawn), objects(drawn)
    run.take(3)
    state = copy.deepcopy(run.loader.state_dict())
    loader = second_loader.Loader(**made, state=state, plan=state["plan"])
    made["sampler"].set_epoch(5)
    with pytest.raises(ReplayMismatchError):
        next(loader.epochs())


def test_the_state_of_another_rank_is_refused_within_an_epoch() -> None:
    drawn: Drawn = {"n": 17, "dataset": "Plain", "sampler": "Share"}
    drawn |= {"batch_sampler": None, "lifetime": "run", "plan": PLAN}
    run, made = Reference(drawn), objects(drawn)
    run.take(2)
    made["sampler"].rank = 0
    state = copy.deepcopy(run.loader.state_dict())
    with pytest.raises(second.PlanMismatchError, match="share"):
        second_loader.Loader(**made, state=state, plan=state["plan"])
    run.take()
    state = copy.deepcopy(run.loader.state_dict())
    second_loader.Loader(**made, state=state, plan=state["plan"])


def test_a_program_sets_the_next_epoch_after_it_broke_one_off() -> None:
    drawn: Drawn = {"n": 11, "dataset": "Counting", "sampler": "SkippingSampler"}
    drawn |= {"batch_sampler": None, "lifetime": "run", "plan": {**PLAN, "lanes": 2}}
    run, refused = Reference(drawn, num_workers=2, persistent_workers=True), False
    run.take()
    run.take(4)
    try:
        run.leave()
    except midepoch.errors.ReplayMismatchError:
        refused = True
    assert not refused


def test_a_lane_that_was_not_asked_keeps_its_loaded_end_for_the_next_epoch() -> None:
    drawn: Drawn = {"n": 9, "dataset": "Resuming", "sampler": None, "batch_sampler": None}
    drawn |= {"lifetime": "run", "plan": {**PLAN, "lanes": 3}}
    before, run = Reference(drawn), Reference(drawn)
    whole = before.take()
    run.load(before.loader.state_dict())
    run.take(2)
    run.leave()
    assert [len(batch) for batch in run.take()] == [len(batch) for batch in whole]
