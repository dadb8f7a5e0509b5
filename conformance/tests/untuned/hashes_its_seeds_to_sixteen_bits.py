"""Derives a sample's seed by a hash, of which it keeps sixteen bits.

Of some thousand samples many pairs share their augmentation; a handful shows nothing.
"""

import hashlib
import random
from typing import Any

from ground import mutant, simple

FAMILY = "random numbers"
BREAKS = ("VOWN-2",)


class Loader(simple.Loader):
    def own_source(self, epoch: int, i: int) -> Any:
        digest = hashlib.sha256(f"{self.seed}/{epoch}/{i}".encode()).digest()
        return random.Random(digest[:2]).random


def shows(play: Any) -> Any:
    drawn = [row[1] for batch in play(n=2000, batch_size=50, draws=("own",)).whole()[0]
             for row in batch]  # fmt: skip
    return len(set(drawn)), 2000


Adapter = mutant(Loader)
