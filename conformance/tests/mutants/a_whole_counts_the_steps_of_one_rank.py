"""Gives the state that the ranks' states make the steps of the rank that delivered fewest."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "DOC-19"
LARGEST = {"workers": 0, "sessions": 4, "steps": 9, "samples": 20}


class Session(reference.Session):
    def merge(self, states: list[Any]) -> Any:
        whole = super().merge(states)
        whole["position"]["batches"] = min(one["position"]["batches"] for one in states)
        return whole


Adapter = mutant(Session)
