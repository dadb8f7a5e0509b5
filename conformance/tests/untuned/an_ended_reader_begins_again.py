"""Saves nothing of a reader that has ended, so that the resumed run takes it for a fresh one.

Where shares are uneven, a restart late in the epoch delivers the shortest share a second time.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-7", "EPOCH-3")


class Loader(readers.Loader):
    def state(self) -> dict[str, Any]:
        state = super().state()
        state["entries"] = [dict(readers.FRESH) if e["ended"] else e for e in state["entries"]]
        return state


def shows(play: Any) -> Any:
    plan = play(kind="iterable", stream="uneven", n=13, batch_size=2, workers=2)
    life = plan.open()
    life.take(6)
    return plan.open(life.state()).rest(), plan.whole()[0][6:]


Adapter = readers.mutant(loader=Loader)
