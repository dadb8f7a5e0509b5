"""Asks the dataset for its state whenever a state is taken, whatever the interval says.

A user who saves often, and has set a long interval because the state is large, waits all the same.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-2",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        if self.moved and self.live is not None and self.live.source is not None:
            states = self.capture()
            if states:
                self.snapshot = {"at": self.batches, "states": states}
        return super().state()


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=40, batch_size=1, interval=100, logged=True)
    life = plan.open()
    for _ in range(30):
        life.take(1)
        life.session.state()
    return plan.noted("state_dict") > 10, False


Adapter = mutant(Loader)
