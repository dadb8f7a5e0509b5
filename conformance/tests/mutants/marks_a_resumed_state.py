"""Marks a state that is taken right after a load as loaded."""

from typing import Any

from format_base import mutant, reference

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 1, "steps": 5, "samples": 0}
FIELD = ("data#1453", "Energon#126")


class Session(reference.Session):
    resumed = False

    def load(self, state: Any) -> None:
        super().load(state)
        self.resumed = True

    def state(self) -> dict[str, Any]:
        state = super().state()
        return {**state, "x-resumed": True} if self.resumed else state


Adapter = mutant(Session)
