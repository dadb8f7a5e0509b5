"""Counts a reader's batches from zero in each process, and seeds the random streams by that.

The samples that come after a restart are the right ones, and their augmentation is that of the
epoch's first batches once more.
"""

from typing import Any

import readers

FAMILY = "random numbers"
BREAKS = ("VAMB-1", "RESUME-1", "RESUME-7")


class Reader(readers.Reader):
    def __init__(self, loader: readers.Loader, number: int, entry: dict[str, Any]) -> None:
        self.drawn = 0
        super().__init__(loader, number, entry)

    def read(self) -> readers.Made:
        made = super().read()
        self.drawn += 1
        return made

    def source(self) -> Any:
        loader = self.loader
        return readers.random.Random(f"{loader.seed}/{loader.epoch}/{self.number}/{self.drawn}")


def shows(play: Any) -> Any:
    game = play(kind="stateful_iterable", n=24, batch_size=2, workers=2, draws=("python",))
    whole = game.whole()[0]
    life = game.open()
    seen = life.take(5)
    return seen + game.open(life.state()).rest(), whole


Adapter = readers.mutant(Reader)
