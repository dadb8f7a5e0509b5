"""Keeps in its state the places of all resumes before, to tell them in its log.

On machines that are taken away every few minutes, each checkpoint is larger than the one before.
"""

import copy
from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-1",)


class Loader(simple.Loader):
    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.resumed_at: list[list[int]] = []

    def state(self) -> dict[str, Any]:
        return {**super().state(), "resumed_at": copy.deepcopy(self.resumed_at)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed_at = [*copy.deepcopy(state["resumed_at"]), [self.epoch, self.batches]]

    def check(self, state: Any) -> None:
        super().check(state)
        if not isinstance(state["resumed_at"], list):
            raise simple.StateError(f"not the places of resumes: {state['resumed_at']!r}")


def shows(play: Any) -> Any:
    plan = play(n=80, batch_size=2)
    state = plan.open().state()
    sizes = []
    for _ in range(20):
        life = plan.open(state)
        life.take(1)
        state = life.state()
        sizes.append(len(repr(state)))
    return sizes[-1] > sizes[0] + 20, False


Adapter = mutant(Loader)
