"""Drawn states of the reference loader, continued by the second loader.

``MIDEPOCH_SECOND_STATES`` says how many states are drawn.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import Any

import drawn_sources
import second_loader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from midepoch import StatefulDataLoader
from midepoch.errors import ReplayWarning

STATES = int(os.environ.get("MIDEPOCH_SECOND_STATES", "100"))
EPOCHS = 3
"""How many epochs are compared, the saved one included."""

Drawn = dict[str, Any]
KINDS = {**drawn_sources.DATASETS, **drawn_sources.ITERABLES}
SAMPLERS = {**drawn_sources.SAMPLERS, **drawn_sources.BATCH_SAMPLERS}


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
            found.append(str(error))
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
            **execution,
        )
        self.epoch = 0
        self.iterator: Iterator[Any] | None = None
        if drawn["lifetime"] == "epoch":
            state = self.loader.state_dict()
            state["plan"]["lifetime"] = "epoch"
            self.loader.load_state_dict(state)

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
    plan = copy.deepcopy(state["plan"])
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


@st.composite
def loaders(draw: st.DrawFn) -> Drawn:
    """Draw a loader: the user's objects, the plan and the lifetime."""
    one = st.sampled_from
    drawn: Drawn = {"n": draw(one([0, 1, 3, 6, 11, 17, 23])), "sampler": None}
    drawn["batch_sampler"] = None
    drawn["lifetime"] = draw(one(["run", "epoch"]))
    iterable, custom = draw(one([(True, False), (False, False), (False, True), (False, True)]))
    kinds = drawn_sources.ITERABLES if iterable else drawn_sources.DATASETS
    drawn["dataset"] = draw(one(sorted(kinds)))
    plan: Drawn = {"seed": draw(one([0, 7, 2**53 + 1, 2**64 - 1]))}
    plan["lanes"] = draw(st.integers(0, 3))
    size = draw(one([None, 1, 2, 3, 4]))
    if custom:
        drawn["n"] = max(1, drawn["n"])
        samplers = drawn_sources.SAMPLERS
        if draw(st.integers(0, 3)) == 0:
            drawn["batch_sampler"] = draw(one(sorted(drawn_sources.BATCH_SAMPLERS)))
        else:
            drawn["sampler"] = draw(one(sorted(samplers)))
    elif not iterable:
        plan["shuffle"] = drawn["n"] > 0 and draw(st.booleans())
    if drawn["batch_sampler"] is None:
        plan["batch_size"] = size
        tails = ["keep"] if size is None else ["keep", "drop"] + ["rollover"] * (not iterable)
        tail = draw(one(tails))
        plan |= {"drop_last": tail == "drop"}
        if tail == "rollover":
            plan["last_batch"] = tail
    drawn["plan"] = plan
    return drawn


executions = st.fixed_dictionaries({"snapshot_every_n_steps": st.sampled_from([0, 1, 3, 100])})
prelude = st.tuples(
    st.sampled_from(["drain", "break", "load"]), st.sampled_from([0, 1, 2, 3, 5]), executions
)
moments = st.sampled_from(["within", "within", "end", "seen", "left"])


def compare(drawn: Drawn, execution: Drawn, before: list[Any], moment: str, batches: int) -> None:
    """Take a state at a moment, and continue it."""
    warnings.simplefilter("ignore", ReplayWarning)
    run = Reference(drawn, **execution)
    for operation, count, other in before:
        if operation == "drain":
            run.take()
        else:
            run.take(count)
        if operation == "break":
            run.leave()
        if operation == "load":
            state = run.loader.state_dict()
            run = Reference(drawn, **other)
            run.load(state)
    if moment == "seen":
        run.take()
    else:
        run.take(batches)
    if moment == "left":
        run.leave()
    state = run.loader.state_dict()
    kept = copy.deepcopy(state)
    expected = [run.take() for _ in range(EPOCHS)]
    resumed = Reference({**drawn, "lifetime": "run"}, **execution)
    resumed.load(copy.deepcopy(kept))
    assert [resumed.take() for _ in range(EPOCHS)] == expected, "the reference"
    assert continued(drawn, copy.deepcopy(kept)) == expected


@settings(
    max_examples=STATES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
@given(loaders(), executions, st.lists(prelude, max_size=3), moments, st.integers(0, 7))
def test_a_drawn_state_is_continued(
    drawn: Drawn, execution: Drawn, before: list[Any], moment: str, batches: int
) -> None:
    compare(drawn, execution, before, moment, batches)
