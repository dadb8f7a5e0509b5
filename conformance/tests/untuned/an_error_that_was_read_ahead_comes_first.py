"""Raises an error as soon as a reader has met it, ahead of the good batches that wait before it.

An unreadable row takes the place of an earlier batch, which comes after it. A program that stops
at the error, and saves, has a position that never was.
"""

from typing import Any

import readers

FAMILY = "faults"
BREAKS = ("FAULT-2", "FAULT-5", "FAULT-11", "RESUME-7")


class Reader(readers.Reader):
    def next(self) -> readers.Made:
        while not self.over and len(self.ahead) < self.loader.prefetch:
            self.ahead.append(self.read())
        for made in self.ahead:
            if made.error is not None:
                self.ahead.remove(made)
                return made
        return self.ahead.popleft() if self.ahead else readers.Made(None)


def shows(play: Any) -> Any:
    life = play(kind="iterable", n=12, batch_size=2, fail_at=5).open()
    taken = life.tolerant()
    return taken.index(next(one for one in taken if isinstance(one, str))), 2


Adapter = readers.mutant(Reader)
