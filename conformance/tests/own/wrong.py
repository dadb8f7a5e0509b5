"""Training loaders whose own code has an error."""

from __future__ import annotations

import json
from collections.abc import Iterator


class Raises:
    def __iter__(self) -> Iterator[int]:
        yield self.row(0)

    def row(self, number: int) -> int:
        return {"label": number}["lable"]

    def state_dict(self) -> dict[str, int]:
        return {}

    def load_state_dict(self, state: dict[str, int]) -> None:
        pass


def raises(num_workers: int) -> Raises:
    return Raises()


def settings() -> object:
    return json.loads("{not json")


def not_built(num_workers: int) -> Raises:
    settings()
    return Raises()


def nothing(num_workers: int) -> None:
    Raises()


def without_workers() -> Raises:
    return Raises()
