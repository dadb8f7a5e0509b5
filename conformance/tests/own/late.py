"""A loader that resumes a batch too late, at an epoch's end as well."""

from __future__ import annotations

from collections.abc import Iterator


class Late:
    """Ten batches an epoch."""

    def __init__(self) -> None:
        self.at = 0

    def __iter__(self) -> Iterator[list[int]]:
        start, self.at = self.at, 0
        for number in range(start, 10):
            self.at = (number + 1) % 10
            yield [number]

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at = state["at"] + 1


def make_loader(num_workers: int) -> Late:
    return Late()
