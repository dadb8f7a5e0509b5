"""Saves that a reader has ended as soon as its read-ahead has met the end.

A restart within the last batches of an epoch, fewer than are read ahead, loses them.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-7")


class Loader(readers.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.live is not None and self.live.readers is not None and self.live.over is None:
            for reader, entry in zip(self.live.readers, state["entries"], strict=True):
                entry["ended"] = reader.over
        return state


def shows(play: Any) -> Any:
    plan = play(kind="iterable", n=10, batch_size=4, workers=1, prefetch=2)
    life = plan.open()
    life.take(2)
    return plan.open(life.state()).rest(), plan.whole()[0][2:]


Adapter = readers.mutant(loader=Loader)
