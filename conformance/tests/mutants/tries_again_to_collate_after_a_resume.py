"""Counts a batch that could not be collated in its own run, and not in its states."""

from typing import Any

from base import mutant, simple

EXPECTED = "FAULT-11"
LARGEST = {"workers": 0, "sessions": 2, "steps": 8, "samples": 6}


class Loader(simple.Loader):
    uncollated = 0

    def attempt(self, epoch: int, k: int, indices: list[int]) -> simple.Answer:
        fetched: list[Any] = []
        collate, self.collate = self.collate, lambda rows: fetched.extend(rows) or rows
        try:
            error, rows = super().attempt(epoch, k, indices)
        finally:
            self.collate = collate
        if error is not None:
            return error, rows
        try:
            return None, self.collate(rows)
        except Exception as raised:
            self.uncollated += 1
            return raised, []

    def state(self) -> Any:
        state = super().state()
        return {**state, "batches": max(0, state["batches"] - self.uncollated)}

    def load(self, state: Any) -> None:
        super().load(state)
        self.uncollated = 0

    def next_epoch(self) -> None:
        super().next_epoch()
        self.uncollated = 0


Adapter = mutant(Loader)
