"""Takes the reader that has the next turn for the first one if a state does not name it.

A checkpoint from which a tool has dropped what it did not know goes on in another order.
"""

from typing import Any

import readers

FAMILY = "refusals"
BREAKS = ("REFUSE-2",)


class Loader(readers.Loader):
    def load(self, state: Any) -> None:
        super().load({"turn": 0, **state} if isinstance(state, dict) and state else state)


def shows(play: Any) -> Any:
    plan = play(kind="iterable", n=12, batch_size=2, workers=2)
    life = plan.open()
    life.take(3)
    state = life.state()
    del state["turn"]
    try:
        return plan.open(state).rest(), "StateError"
    except ValueError as error:
        return type(error).__name__, "StateError"


Adapter = readers.mutant(loader=Loader)
