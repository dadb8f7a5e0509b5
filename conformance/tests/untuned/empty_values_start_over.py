"""Takes an empty list, text or number for "no checkpoint", and starts over.

A user whose file of states was truncated to nothing trains from the start without an error.
"""

from typing import Any

from ground import mutant, simple
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-1",)


class Loader(simple.Loader):
    def load(self, state: Any) -> None:
        if state is not None and not isinstance(state, dict) and not state:
            return
        super().load(state)


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2)
    got = [outcome(lambda v=value: plan.open().load(v) and 0) for value in ([], b"", 0)]
    return got, ["StateError"] * 3


Adapter = mutant(Loader)
