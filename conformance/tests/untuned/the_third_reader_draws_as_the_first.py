"""Seeds its readers by the lowest bit of their number.

Two readers are fine; with three, the first and the third augment alike.
"""

import random
from typing import Any

import readers

FAMILY = "random numbers"
BREAKS = ("VAMB-2",)


class Reader(readers.Reader):
    def source(self) -> random.Random:
        loader = self.loader
        return random.Random(f"{loader.seed}/{loader.epoch}/{self.number & 1}/{self.made}")


def shows(play: Any) -> Any:
    plan = play(kind="iterable", n=12, batch_size=1, workers=3, draws=("python",))
    drawn = [row[1] for batch in plan.whole()[0] for row in batch]
    return len(set(drawn)), 12


Adapter = readers.mutant(Reader)
