"""Saves the snapshots that came since the load; readers that delivered nothing yet have none.

Two restarts in quick succession are exact, and the second reads most of the epoch again.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("COST-3",)


class Loader(readers.Loader):
    loaded: tuple[int, ...] = ()

    def load(self, state: Any) -> None:
        super().load(state)
        self.loaded = tuple(entry["batches"] for entry in self.entries)

    def next_epoch(self) -> None:
        super().next_epoch()
        self.loaded = ()

    def state(self) -> dict[str, Any]:
        state = super().state()
        for entry, loaded in zip(state["entries"], self.loaded, strict=False):
            if entry["batches"] == loaded:
                entry.update(states=None, at=0)
        return state


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=60, batch_size=1, workers=2, logged=True)
    life = plan.open()
    life.take(40)
    second = plan.open(life.state())
    second.take(1)
    state, before = second.state(), plan.noted("fetch")
    plan.open(state).take(1)
    return plan.noted("fetch") - before > 15, False


Adapter = readers.mutant(loader=Loader)
