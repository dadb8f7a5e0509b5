"""Fetches the first sample of each epoch once more than it delivers it, to look at its shape.

A dataset that downloads or counts its samples does so once too often in every epoch.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "costs"
BREAKS = ("COST-5",)


class Loader(simple.Loader):
    columns = 0

    def access(self, done: int) -> Iterator[simple.Answer]:
        batches = self.order(self.epoch)
        if batches and not done and not self.workers and not hasattr(self.copy, "state_dict"):
            with contextlib.suppress(Exception):  # the epoch will raise it again, in its place
                self.columns = len(self.fetch(self.epoch, 0, batches[0][:1])[0])
        return super().access(done)


def shows(play: Any) -> Any:
    plan = play(n=10, batch_size=2, logged=True)
    plan.whole(epochs=4)
    return plan.noted("fetch") > 4 * 10 + 1, False


Adapter = mutant(Loader)
