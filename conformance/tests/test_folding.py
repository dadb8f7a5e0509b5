"""Adapters folded for a case: shorter, and they deliver what they delivered before."""

from __future__ import annotations

import dataclasses
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from midepoch_conformance.case.adapter import Execution
from midepoch_conformance.case.workload import Workload
from midepoch_conformance.scripts.folding import Facts, fold
from midepoch_conformance.scripts.handing import escapes, parameters
from midepoch_conformance.scripts.script_data import (
    asked_for,
    data_of,
    everything,
    row_text,
    workload_facts,
)

SUITE = Path(__file__).parents[1] / "midepoch_conformance"
FAKES = Path(__file__).parent / "fakes"

WORKLOADS = (
    Workload(),
    Workload(shuffle=True, seed=3, tail="drop"),
    Workload(kind="iterable"),
    Workload(kind="stateful_iterable"),
    Workload(kind="stateful_map"),
    Workload(kind="iterable", stream="buffer"),
    Workload(kind="stateful_iterable", stream="packing"),
    Workload(kind="stateful_iterable", stream="rewinding"),
    Workload(kind="stateful_iterable", stream="flatten", state_at="iterator"),
    Workload(kind="stateful_iterable", state_at="both"),
    Workload(sampler="custom"),
    Workload(sampler="batches"),
    Workload(sampler="stateful"),
    Workload(sampler="distributed"),
    Workload(sampler="subset"),
    Workload(grow=3),
)


def folded(source: str, attribute: str, w: Workload, used: frozenset[str]) -> tuple[str, Any]:
    """Return the folded source, and what it is handed in the place of ``w``."""
    x = dataclasses.asdict(Execution())
    row = row_text(w, calls=False)
    text = fold(source, Facts(attribute, workload_facts(w), x, used, row=row))
    names = parameters(text)
    asked = everything(w) if escapes(text, names) else asked_for(text, names)
    data = data_of(w, workload_facts(w) | x, asked, calls=False)
    there: dict[str, Any] = dict(vars(__import__("builtins")))
    exec("import collections, copy, random\n" + "\n".join(map("\n".join, data.blocks)), there)
    members = {name: eval(value, there) for name, value in data.members.items()}
    return text, types.SimpleNamespace(**members)


def delivered(source: str, attribute: str, w: Any, x: Any) -> list[Any]:
    """Return two epochs, and what comes after a state taken in the first one is loaded."""
    # Classes are looked up by their module when they are copied.
    module = types.ModuleType("folded_adapter")
    sys.modules["folded_adapter"] = module
    try:
        exec(compile(source, "adapter.py", "exec"), vars(module))
        made = getattr(module, attribute)
        adapter = made() if isinstance(made, type) else made
        session = adapter.open(w, x, ".")
        first = iter(session.epoch())
        seen = [next(first)]
        state = session.state()
        seen += [*first, *session.epoch()]
        again = adapter.open(w, x, ".")
        again.load(state)
        return [*seen, "loaded", *again.epoch()]
    finally:
        del sys.modules["folded_adapter"]


@pytest.mark.filterwarnings("ignore:.*set_vital:UserWarning")  # torchdata names it
@pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")  # what has no state
@pytest.mark.parametrize("w", WORKLOADS, ids=lambda w: f"{w.kind} {w.feature}")
@pytest.mark.parametrize("name", ["torchdata", "reference"])
def test_a_folded_adapter_delivers_the_same(name: str, w: Workload) -> None:
    source = (SUITE / "adapters" / f"{name}.py").read_text().split('"""', 2)[2]
    text, case = folded(source, "Adapter", w, frozenset({"epoch", "state", "load"}))
    assert len(text) < len(source)
    whole = delivered(source, "Adapter", w, Execution())
    assert delivered(text, "Adapter", case, case) == whole


@pytest.mark.parametrize("attribute", ["Forgets", "Shares", "Honest"])
def test_a_fake_is_folded_to_the_one_that_is_asked_for(attribute: str) -> None:
    source = (FAKES / "lies.py").read_text()
    used = frozenset({"epoch", "state", "load"})
    text, case = folded(source, attribute, Workload(), used)
    assert ("class ForgetsLoader" in text) == (attribute == "Forgets")
    assert "GrowsLoader" not in text
    x = Execution()
    assert delivered(text, attribute, case, case) == delivered(source, attribute, Workload(), x)


STRANGE = """
from dataclasses import dataclass, field
import random  # a comment that stays

REGISTRY = {}

def register(cls):  # decorators do something
    REGISTRY[cls.__name__] = cls
    return cls

@dataclass
class Settings:
    size: int = 4
    options: dict = field(default_factory=dict)

@register
class Rows:
    def __init__(self, w):
        # w is kept
        self.w = w

    def __getitem__(self, i):
        return self.w.row(i)

class Base:
    def epoch(self):
        size = self.settings.size if self.w.tail == "keep" else None
        for start in range(0, self.w.n, size):
            yield [self.rows[i] for i in range(start, min(start + size, self.w.n))]

    def state(self):
        return None

    def load(self, state):
        if self.w.kind == "map":
            self.loaded = state
        elif self.w.kind == "iterable":
            raise RuntimeError("never")
        else:
            raise RuntimeError("nor this")

class Session(Base):
    def __init__(self, w, x):
        self.w, self.settings = w, Settings()
        self.rows = REGISTRY["Rows"](w)
        self.text = f"{w.n} samples, {x.workers} workers"

if random.random() < 2:
    LIMIT = 1

class Unused:
    pass

class Adapter:
    limit = LIMIT
    def offer(self): return {}
    def declines(self, w, x): return None
    def prepare(self, w, root): pass
    def open(self, w, x, root):
        return Session(w, x)
"""


def test_what_is_in_doubt_is_kept() -> None:
    text, case = folded(STRANGE, "Adapter", Workload(), frozenset({"epoch", "state", "load"}))
    for kept in ("@register", "# a comment that stays", "# w is kept", "if random.random() < 2:"):
        assert kept in text
    for gone in ("class Unused", "def offer", "never", "nor this"):
        assert gone not in text
    x = Execution()
    # A registered class is handed the workload by a name that nobody can follow.
    assert escapes(text, parameters(text))
    assert delivered(text, "Adapter", case, case) == delivered(STRANGE, "Adapter", Workload(), x)


def test_an_adapter_that_reaches_names_by_their_texts_keeps_all_of_them() -> None:
    source = STRANGE.replace('REGISTRY["Rows"]', 'globals()["Ro" + "ws"]')
    text = fold(source, Facts("Adapter", {}, {}, frozenset({"epoch"})))
    assert "class Unused" in text
