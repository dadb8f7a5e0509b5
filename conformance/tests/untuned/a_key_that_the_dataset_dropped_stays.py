"""Writes a dataset's new state into the last snapshot: what the dataset dropped stays in it.

A dataset that notes a half-read file only while there is one finds a file again that it has closed.
"""

from typing import Any

from ground import mutant, simple

FAMILY = "states"
BREAKS = ("STATE-6", "RESUME-1", "RESUME-2", "RESUME-7")


def merged(before: Any, now: Any) -> Any:
    if type(before) is not dict or type(now) is not dict:
        return now
    return {**before, **{key: merged(before.get(key), value) for key, value in now.items()}}


class Loader(simple.Loader):
    def capture(self) -> dict[str, Any]:
        before = self.snapshot["states"] if self.snapshot else {}
        return {name: merged(before.get(name), now) for name, now in super().capture().items()}


class Files:
    """A stream that says in its state whether it is within a file."""

    def __init__(self) -> None:
        self.position = 0

    def __iter__(self) -> Any:
        while self.position < 6:
            self.position += 1
            yield [self.position]

    def state_dict(self) -> Any:
        inside = {"file": self.position // 2} if self.position % 2 else {}
        return {"position": self.position, **inside}

    def load_state_dict(self, state: Any) -> None:
        self.position = state["position"]


def shows(play: Any) -> Any:
    loader = play.args[0].loader(Files(), batch_size=1)
    batches = iter(loader)
    next(batches)
    next(batches)
    return loader.state()["snapshot"]["states"]["dataset"], loader.copy.state_dict()


Adapter = mutant(Loader)
