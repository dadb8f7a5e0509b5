"""Saves the snapshot interval, and goes on with the loaded one.

A user who sets a longer interval because saving is slow still gets the old one after each restart.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-2",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "interval": self.interval}

    def check(self, state: Any) -> None:
        super().check(state)
        if type(state["interval"]) is not int or state["interval"] < 1:
            raise simple.StateError(f"not an interval: {state['interval']!r}")

    def load(self, state: Any) -> None:
        super().load(state)
        self.interval = state["interval"]


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=60, batch_size=1, logged=True)
    life = plan.open()
    life.take(2)
    before = plan.noted("state_dict")
    plan.open(life.state(), interval=100).rest()
    return plan.noted("state_dict") - before > 10, False


Adapter = mutant(Loader)
