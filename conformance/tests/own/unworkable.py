"""A loader whose runs with workers all fail."""

from __future__ import annotations

from collections.abc import Iterator


class Unworkable:
    """Ten batches an epoch, without workers alone."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.at = 0

    def __iter__(self) -> Iterator[list[int]]:
        if self.workers:
            raise RuntimeError("the workers find no tokenizer")
        while self.at < 10:
            self.at += 1
            yield [self.at]
        self.at = 0

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"]


def make_loader(num_workers: int) -> Unworkable:
    return Unworkable(num_workers)
