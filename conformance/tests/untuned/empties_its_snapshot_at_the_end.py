"""Hands out its snapshot and empties it when the epoch ends, to free its memory.

A checkpoint that is written in the background while the epoch ends lacks the dataset's state.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS = ("STATE-1",)


class Loader(simple.Loader):
    def state(self) -> dict[str, Any]:
        return {**super().state(), "snapshot": self.snapshot}

    def next_epoch(self) -> None:
        if self.snapshot is not None:
            self.snapshot["states"].clear()
        super().next_epoch()


def shows(play: Any) -> Any:
    life = play(kind="stateful_iterable", n=4, batch_size=2).open()
    life.take(2)
    state = life.session.state()
    before = repr(state)
    life.rest()
    return repr(state), before


Adapter = mutant(Loader)
