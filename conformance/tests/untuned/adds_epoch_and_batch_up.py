"""Seeds the global streams of a batch with the sum of its epoch and its number.

The second batch of an epoch is augmented as the first one of the next epoch.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from ground import mutant, simple

FAMILY = "random numbers"
BREAKS = ("VAMB-2",)


class Loader(simple.Loader):
    @contextlib.contextmanager
    def seeded(self, epoch: int, k: int) -> Iterator[None]:
        with super().seeded(0, epoch + k):
            yield


def shows(play: Any) -> Any:
    epochs = play(n=6, batch_size=2, draws=("python",)).whole(epochs=2)
    drawn = [row[1] for epoch in epochs for batch in epoch for row in batch]
    return len(set(drawn)), 12


Adapter = mutant(Loader)
