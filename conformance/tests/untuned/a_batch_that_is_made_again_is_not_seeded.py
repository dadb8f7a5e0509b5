"""Remembers for which batch the random streams were seeded last, and does not seed twice for it.

A batch that is made again at once, after a Ctrl-C within it or after a step back to the state
before it, draws from the streams as they happen to be.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-6", "RESUME-7", "FAULT-12")


class Loader(simple.Loader):
    latest: tuple[int, int] | None = None

    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        if self.latest == (epoch, k):
            yield
            return
        self.latest = epoch, k
        with super().seeded(epoch, k):
            yield


def shows(play: Any) -> Any:
    plan = play(n=8, batch_size=2, draws=("python",))
    life = plan.open()
    life.take(1)
    state = life.state()
    life.take(1)
    life.load(state)
    return life.rest(), plan.whole()[0][1:]


Adapter = mutant(Loader)
