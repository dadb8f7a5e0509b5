"""Accepts a state of another number of ranks and continues at the sample, rounded down to a batch.

A run that is restarted on another number of machines repeats samples, if it does not divide evenly.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-2",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            saved, here = state["plan"].get("world"), self.plan()["world"]
            batches = state.get("batches")
            if type(saved) is int and type(batches) is int and saved != here:
                plan = {**state["plan"], "world": here}
                state = {**state, "plan": plan, "batches": batches * saved // here}
        super().load(state)


def shows(play: Any) -> Any:
    fields = {"n": 12, "batch_size": 1, "sampler": "distributed"}
    before = [play(**fields, world=3, rank=rank).open() for rank in range(3)]
    seen = [row[0] for life in before for batch in life.take(1) for row in batch]
    after = [play(**fields, world=2, rank=rank) for rank in range(2)]
    rest = [outcome(lambda p=plan: p.open(before[0].state()).rest()) for plan in after]
    if rest == ["StateError"] * 2:
        return rest, rest
    seen += [row[0] for one in rest for batch in one for row in batch]
    return sorted(seen), list(range(12))


Adapter = mutant(Loader)
