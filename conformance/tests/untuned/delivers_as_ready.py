"""Delivers the answer that arrives first, whatever its place in the order.

Two runs of one program differ, and a restart repeats a batch where workers are uneven.
"""

from collections.abc import Iterator
from multiprocessing.connection import wait
from typing import Any

from ground import mutant, simple

FAMILY = "workers"
BREAKS = ("WORKERS-1", "BASIS-2", "RESUME-1", "RESUME-7")


class Loader(simple.Loader):
    def pooled(self, tasks: list[Any]) -> Iterator[simple.Answer]:
        pool, left = self.pool(), list(tasks)
        workers = {pipe: worker for worker, pipe in pool.pipes.items()}
        try:
            for worker in range(self.workers):
                if left:
                    pool.send(worker, left.pop(0))
            for _ in tasks:
                busy = [pipe for pipe, worker in workers.items() if pool.asked[worker]]
                worker = workers[wait(busy)[0]]  # type: ignore[index]
                answer = pool.receive(worker)
                if left:
                    pool.send(worker, left.pop(0))
                yield answer
        finally:
            pool.close()


def shows(play: Any) -> Any:
    plan = play(n=4, batch_size=1, workers=2, gate=(0, 3), logged=True)
    return plan.whole()[0], [[[0]], [[1]], [[2]], [[3]]]


Adapter = mutant(Loader)
