"""Keeps naming the workers that it had to close after one of them died.

The next epoch asks them for its batches, and ends in an error before the first one: after a death
the loader is good for nothing, although the program has handled the error.
"""

from collections.abc import Iterator
from typing import Any

import keeping
from ground import simple
from play import outcome

FAMILY = "workers"
BREAKS = ("RESUME-7", "FAULT-1", "FAULT-6", "EPOCH-5")


class Loader(keeping.Loader):
    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        if not self.persistent:
            yield from super().pooled(tasks)
            return
        if self.kept is None:
            self.kept = self.pool()
        pool = self.kept
        usable = False
        try:
            ahead = self.workers * self.prefetch
            for i, task in enumerate(tasks[:ahead]):
                pool.send(i % self.workers, task)
            for i in range(len(tasks)):
                usable = False
                answer = pool.receive(i % self.workers)
                usable = True
                yield answer
                if i + ahead < len(tasks):
                    pool.send((i + ahead) % self.workers, tasks[i + ahead])
            usable = True
        finally:
            if usable:
                self.keep(pool)
            else:
                pool.close()


def shows(play: Any) -> Any:
    fields = {"kind": "map", "n": 24, "batch_size": 2, "workers": 2, "persistent": True}
    whole = play(**fields).whole(2)[1]
    life = play(**fields, die_at=13, die_once=True, logged=True).open()
    outcome(life.rest)
    return outcome(life.begin().rest), whole


Adapter = keeping.mutant(Loader)
