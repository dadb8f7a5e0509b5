"""Takes a dataset with random access for one without a state as long as it has no snapshot.

Within the first interval the position alone is restored, and a Stateful dataset (it counts what it
has given out, say) begins at zero in the middle of the epoch.
"""

from typing import Any

import ground
from ground import simple

FAMILY = "map-style"
BREAKS = ("INTERVAL-1", "RESUME-1", "RESUME-4", "RESUME-7")


class Loader(simple.Loader):
    def restore(self) -> int:
        done = super().restore()
        return done if self.snapshot or not self.random_access else self.batches


def shows(play: Any) -> Any:
    game = play(kind="stateful_map", n=24, batch_size=2, interval=100)
    whole = game.whole()[0]
    life = game.open()
    seen = life.take(5)
    state = life.state()
    life.close()
    return seen + game.open(state).rest(), whole


Adapter = ground.mutant(Loader)
