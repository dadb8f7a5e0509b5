"""Gives the state that the ranks' states make a sample more than its lanes have delivered."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "DOC-18"
LARGEST = {"workers": 0, "sessions": 4, "steps": 9, "samples": 2}


class Session(reference.Session):
    def merge(self, states: list[Any]) -> Any:
        whole = super().merge(states)
        whole["position"]["samples"] += 1
        return whole


Adapter = mutant(Session)
