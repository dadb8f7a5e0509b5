"""Seeds a sample's own source with the sum of seed, epoch and index.

Sample 1 of an epoch is augmented exactly as sample 2 of the epoch before.
"""

import random
from typing import Any

from ground import mutant, simple

FAMILY = "random numbers"
BREAKS = ("VOWN-2",)


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        return random.Random(self.seed + epoch + i).random


def shows(play: Any) -> Any:
    epochs = play(n=6, batch_size=2, draws=("own",)).whole(epochs=2)
    drawn = [row[1] for epoch in epochs for batch in epoch for row in batch]
    return len(set(drawn)), 12


Adapter = mutant(Loader)
