"""Pairs the saved parts with its readers by ``zip``: with fewer readers the last parts are lost.

A restart with fewer workers silently leaves out the shares of those that are gone.
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
    return rest == "StateError" or len({r[0] for b in seen + rest for r in b}) == 12, True


Adapter = readers.mutant(loader=Loader)
