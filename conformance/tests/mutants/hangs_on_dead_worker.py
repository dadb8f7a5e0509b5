"""Waits for ever for the answer of a dead worker."""

import threading

from base import mutant, simple

EXPECTED = "FAULT-1"
LARGEST = {"workers": 2, "sessions": 1, "steps": 1, "samples": 13}
FIELD = ("pytorch#39570", "pytorch#26072")


class Pool(simple.Pool):
    def receive(self, worker: int) -> simple.Answer:
        try:
            return super().receive(worker)
        except RuntimeError as error:
            if "died" in str(error):
                threading.Event().wait()
            raise


class Loader(simple.Loader):
    def pool(self) -> simple.Pool:
        return Pool(self, self.workers)


Adapter = mutant(Loader)
