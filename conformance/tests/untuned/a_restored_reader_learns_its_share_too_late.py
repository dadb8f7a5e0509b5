"""Tells a reader its share of the rows once its state is loaded and its stream is begun.

A fresh reader begins without a state, and knows its share. After a restart each reader goes on in
the whole stream: rows come twice.
"""

from typing import Any

import readers

FAMILY = "readers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "BASIS-3", "EPOCH-4")


class Reader(readers.Reader):
    def restore(self, entry: dict[str, Any]) -> None:
        if not entry["states"]:
            super().restore(entry)
            return
        share, self.data.place = self.data.place, readers.Placed.place
        super().restore(entry)
        self.read_ahead()
        self.data.place = share

    def read_ahead(self) -> None:
        while not self.over and len(self.ahead) < self.loader.prefetch:
            self.ahead.append(self.read())


def shows(play: Any) -> Any:
    plan = play(kind="stateful_iterable", n=24, batch_size=2, workers=2)
    life = plan.open()
    life.take(4)
    return plan.open(life.state()).rest(), plan.whole()[0][4:]


Adapter = readers.mutant(Reader)
