"""Replaces a dead worker by one that repeats the last delivered batch."""

from base import mutant, simple

EXPECTED = "FAULT-8"
LARGEST = {"workers": 1, "sessions": 2, "steps": 5, "samples": 2}


class Pool(simple.Pool):
    def __init__(self, loader: simple.Loader, count: int) -> None:
        super().__init__(loader, count)
        self.last: dict[int, object] = {}

    def receive(self, worker: int) -> simple.Answer:
        asked = self.asked[worker][0]
        answer = super().receive(worker)
        self.last[worker] = asked
        return answer

    def replace(self, worker: int) -> None:
        if worker in self.last:
            self.asked[worker].insert(0, self.last[worker])
        super().replace(worker)


class Loader(simple.Loader):
    def pool(self) -> simple.Pool:
        return Pool(self, self.workers)


Adapter = mutant(Loader)
