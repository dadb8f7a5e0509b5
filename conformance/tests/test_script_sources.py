"""The data of scripts deliver what a play delivers: the same rows, the same states."""

from __future__ import annotations

import dataclasses
import itertools
import pickle
import random
import types
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from midepoch_conformance.case.sources import SAMPLERS, SOURCES
from midepoch_conformance.case.trees import spelled
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.families.tables import load_table
from midepoch_conformance.scripts.script_data import data_of, workload_facts

STATEFUL = "stateful_iterable"
STREAMS = {"python": random.seed, "numpy": numpy.random.seed, "torch": torch.manual_seed}


def occurring() -> list[Workload]:
    """Return the workloads of the tables that differ in what makes their rows and states."""
    found = {}
    for case in load_table("full"):
        w = case.workload
        n = min(w.n, 100)
        fail = None if w.fail_at == -1 else w.fail_at
        w = dataclasses.replace(w, n=n, fail_at=fail, die_at=None, gate=None, log=None)
        told = (w.kind, w.stream, w.state_at, w.tree, w.draws, w.sampler, w.fail_at, w.stop_at)
        found.setdefault(told, w)
    return [*found.values(), *ODD]


ODD = (
    *(Workload(STATEFUL, stream=s, draws=("python", "own")) for s in SOURCES),
    *(Workload(STATEFUL, stream=s, fail_at=6) for s in SOURCES),
    *(Workload(STATEFUL, stream=s, state_at="iterator") for s in ("packing", "flatten")),
    Workload(STATEFUL, state_at="iterator", fail_at=4),
    Workload(STATEFUL, state_at="both", stop_at=4),
    Workload(STATEFUL, stream="buffer", draws=("private torch", "private python"), seed=3),
    Workload("stateful_map", draws=("private numpy", "torch", "own"), tree="growing"),
    Workload("iterable", stream="buffer", draws=("own",)),
    Workload("iterable", stream="packing", draws=("own", "numpy")),
    Workload("iterable", stream="filter", stop_at=3),
)
"""Workloads beyond those of the tables."""


def pasted(w: Workload, *asked: str, **short: bool) -> list[Callable[..., Any]]:
    """Return what a script hands to an adapter under the names that it asks for."""
    data = data_of(w, workload_facts(w), set(asked), calls=False, **short)
    names: dict[str, Any] = {}
    text = "import collections.abc, copy, numpy, random, torch\n"
    exec(text + "\n".join(map("\n".join, data.blocks)), names)
    return [eval(data.members[name], names) for name in asked]


class Side:
    """One of the two that are compared; each call of both finds the same random streams."""

    def __init__(self, make: Callable[..., Any], lane: tuple[int, int], w: Workload) -> None:
        own = random.Random(5).random
        counted = w.form == "both states"
        dataset = {"dataset": types.SimpleNamespace(count=0)} if counted else {}
        self.streams = [STREAMS[name] for name in w.draws if name in STREAMS]
        self.make = lambda: make(*lane, own, **dataset)
        self.made = self.rows = self.make()
        self.saved: Any = None

    def does(self, do: str, given: int, seed: int) -> str:
        """Return what comes of a step, in words."""
        for seeded in self.streams:
            seeded(seed)
        try:
            return spelled(getattr(self, do)(given))
        except StopIteration:
            return "ended"
        except RuntimeError as error:
            return str(error)

    def anew(self, given: int) -> None:
        self.made = self.rows = self.make()

    def begin(self, given: int) -> None:
        self.rows = iter(self.made)

    def row(self, given: int) -> Any:
        return next(self.rows) if hasattr(self.rows, "__next__") else self.made[given]

    def save(self, given: int) -> Any:
        self.saved = pickle.loads(pickle.dumps(self.made.state_dict()))
        return self.saved

    def load(self, given: int) -> None:
        self.made.load_state_dict(self.saved)


def steps_of(w: Workload, seed: int) -> list[tuple[str, int]]:
    """Return the steps of several passes, some of them broken off, with states in between.

    No iterator goes on after its end, and none that has begun after its dataset loads a state.
    """
    draw, saves = random.Random(seed), w.kind != "iterable"
    iterator = w.form in ("iterator state", "both states")
    steps = [("save", 0)] if saves else []
    for number in range(6):
        begin = [("begin", 0)] if w.kind != "stateful_map" and not iterator else []
        load = [("load", 0)] if saves and draw.random() < 0.6 else []
        anew = [("anew", 0)] if iterator or not saves or draw.random() < 0.4 else []
        steps += anew + draw.choice((load + begin, begin + load))
        some = draw.choice((0, 1, 2, w.n // 2, w.n + 2))
        steps += [("row", draw.randrange(w.n or 1)) for _ in range(some)]
        steps += [("save", 0)] if saves and number % 3 != 2 else []
    return steps


@pytest.mark.parametrize("lane", [(0, 1), (0, 2), (1, 2)], ids=str)
def test_the_data_of_a_script_make_the_same_rows_and_states(lane: tuple[int, int]) -> None:
    forms = set()
    for w in occurring():
        name = {"iterable": "stream_of", "stream": "stream_of", "iterator state": "iterator"}
        name |= {"both states": "iterator"}
        if w.form in ("map", "files"):
            continue
        asked = name.get(w.form, "source")
        forms.add((w.form, w.stream))
        (make,) = pasted(w, asked)
        for seed in range(2):
            expected, got = (Side(m, lane, w) for m in (getattr(w, asked), make))
            steps = steps_of(w, seed)
            for number, (do, given) in enumerate(steps):
                wanted, came = expected.does(do, given, number), got.does(do, given, number)
                if do == "save" and w.stream == "buffer" and '"generator"' not in wanted:
                    # That of a script has its generator from the start, the same in effect.
                    assert '"generator"' in came
                    continue
                assert came == wanted, f"{w}, seed {seed}: {steps[: number + 1]}"
    assert len(forms) >= 25


@pytest.mark.parametrize("plain", [False, True], ids=["whatever happens", "pass after pass"])
@pytest.mark.parametrize("name", SAMPLERS)
def test_the_samplers_of_a_script_make_the_same_orders(name: str, plain: bool) -> None:
    w = Workload(sampler=name, seed=3)
    (make,) = pasted(w, "order", plain=plain)
    for at in range(14):
        sides = []
        for made in (w.order(), make()):
            assert len(made) == len(w.order())
            begun = iter(made)
            seen = [list(itertools.islice(begun, at))]
            if name == "stateful":
                state = made.state_dict()
                seen += [state, list(begun), made.state_dict(), list(made)]
                made.load_state_dict(state)
            seen += [list(made), list(made)]
            sides.append(seen)
        assert sides[0] == sides[1]


@pytest.mark.parametrize("tree", ["", "mutated", "containers"])
@pytest.mark.parametrize("plain", [False, True], ids=["whatever happens", "pass after pass"])
@pytest.mark.parametrize("sampler", ["", "stateful"])
def test_what_is_made_without_arguments_makes_the_same_rows(
    sampler: str, plain: bool, tree: str
) -> None:
    """And shares its state's methods with a Stateful sampler: that alone is more in its state."""
    w = Workload("stateful_map", sampler=sampler, tree=tree, seed=3)
    make, *order = pasted(w, "source", *["order"] * bool(sampler), bare=True, plain=plain)
    sides = [
        (w.source(), w.source(), [w.order() for _ in order]),
        (make(), make(), [made() for made in order]),
    ]
    seen = []
    for source, other, orders in sides:
        rows = [source[i] for i in (3, 1, 4)]
        state = pickle.loads(pickle.dumps(source.state_dict()))
        other.load_state_dict(state)
        rows += [source[1], other[1], other[5], *(i for made in orders for i in made)]
        state.pop("passes", None)
        seen.append((rows, spelled(state)))
    assert seen[0] == seen[1]
