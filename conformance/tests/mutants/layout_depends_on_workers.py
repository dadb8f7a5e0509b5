"""Writes an additional field into its document if it has workers."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-2"
LARGEST = {"workers": 1, "sessions": 2, "steps": 10, "samples": 1}
FIELD = ("accelerate#3110",)


class Session(reference.Session):
    def state(self) -> dict[str, Any]:
        state = super().state()
        return {**state, "x-workers": self.loader.num_workers} if self.loader.num_workers else state


Adapter = mutant(Session)
