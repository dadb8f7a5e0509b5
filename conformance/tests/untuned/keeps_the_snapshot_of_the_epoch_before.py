"""Saves the last snapshot that it has, in a new epoch too, until the interval makes another.

A user with a snapshot every few steps who saves early in a later epoch starts near its end.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "interval"
BREAKS = ("INTERVAL-1", "EPOCH-4", "RESUME-7")


class Loader(simple.Loader):
    last: dict[str, Any] | None = None

    def advance(self) -> None:
        super().advance()
        self.last = self.snapshot or self.last

    def state(self) -> dict[str, Any]:
        return {**super().state(), "snapshot": self.snapshot or self.last}

    def check(self, state: Any) -> None:
        if isinstance(state, dict) and isinstance(state.get("snapshot"), dict):
            state = {**state, "snapshot": {**state["snapshot"], "at": 0}}
        super().check(state)

    def load(self, state: Any) -> None:
        super().load(state)
        self.last = self.snapshot


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=10, batch_size=2, interval=2)
    life = plan.open()
    life.rest()
    life.take(1)
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1][1:]


Adapter = mutant(Loader)
