"""Copies the dataset for each reader once, and not in each epoch.

A dataset with a generator of its own draws on from epoch to epoch, although a state between two
epochs holds nothing of it: after a restart there it begins anew.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("EPOCH-2", "EPOCH-3", "EPOCH-5", "RESUME-6", "RESUME-7")


class Loader(readers.Loader):
    copies: dict[int, Any]


class Reader(readers.Reader):
    loader: Loader

    def restore(self, entry: dict[str, Any]) -> None:
        if not hasattr(self.loader, "copies"):
            self.loader.copies = {}
        self.data = self.loader.copies.setdefault(self.number, self.data)
        super().restore(entry)


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=8, batch_size=2, draws=("private python",))
    life = plan.open()
    life.rest()
    return plan.open(life.state()).rest(), plan.whole(epochs=2)[1]


Adapter = readers.mutant(Reader, Loader)
