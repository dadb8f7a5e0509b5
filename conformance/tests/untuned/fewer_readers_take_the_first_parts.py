"""Pairs the saved parts with its readers by ``zip``: with fewer readers the last parts are lost.

A restart with fewer workers silently shares the rows out anew: some come twice, others never.
"""

from typing import Any

import readers
from play import outcome

FAMILY = "readers"
BREAKS = ("ELASTIC-2",)


class Loader(readers.Loader):
    def load(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("entries"), list):
            entries = state["entries"]
            if len(entries) > self.count and isinstance(state.get("plan"), dict):
                plan = {**state["plan"], "readers": self.count}
                entries = [entry for entry, _ in zip(entries, range(self.count), strict=False)]
                state = {**state, "plan": plan, "entries": entries, "turn": 0}
        super().load(state)


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=12, batch_size=1, workers=3)
    life = plan.open()
    seen = life.take(4)
    rest = outcome(lambda: plan.open(life.state(), workers=2).rest())
    if rest == "StateError":
        return rest, rest
    return sorted(row[0] for batch in seen + rest for row in batch), list(range(12))


Adapter = readers.mutant(loader=Loader)
