"""Accepts a state of another batch size and continues at the sample, rounded down to a batch.

A restart with twice the batch size shows the samples of half a batch twice.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "plans"
BREAKS = ("REFUSE-3",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("plan"), dict):
            saved = state["plan"].get("batch_size")
            batches = state.get("batches")
            counts = isinstance(saved, int) and isinstance(batches, int)
            if counts and self.random_access and self.sampler is None:
                plan = {**state["plan"], "batch_size": self.batch_size}
                batches = batches * saved // self.batch_size
                state = {**state, "plan": plan, "batches": batches}
        super().load(state)


def shows(play: Any) -> Any:
    plan, other = (play(n=12, batch_size=size) for size in (2, 4))
    life = plan.open()
    seen = life.take(3)
    rest = outcome(lambda: other.open(life.state()).rest())
    if rest == "StateError":
        return rest, rest
    return sorted(row[0] for batch in seen + rest for row in batch), list(range(12))


Adapter = mutant(Loader)
