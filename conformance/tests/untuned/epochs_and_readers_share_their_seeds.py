"""Seeds a reader by its number plus the epoch's.

The second reader of an epoch draws what the first one draws in the next epoch.
"""

import random
from typing import Any

import readers

FAMILY = "random numbers"
BREAKS = ("VAMB-2",)


class Reader(readers.Reader):
    def source(self) -> random.Random:
        loader = self.loader
        return random.Random(f"{loader.seed}/{loader.epoch + self.number}/{self.made}")


def shows(play: Any) -> Any:
    plan = play(kind="iterable", n=12, batch_size=1, workers=2, draws=("python",))
    drawn = [row[1] for epoch in plan.whole(epochs=2) for batch in epoch for row in batch]
    return len(set(drawn)), 24


Adapter = readers.mutant(Reader)
