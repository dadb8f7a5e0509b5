"""Makes one state of those of all ranks in which the last rank's lanes have delivered nothing."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-10"
LARGEST = {"workers": 0, "sessions": 4, "steps": 9, "samples": 4}


class Session(reference.Session):
    def merge(self, states: list[Any]) -> Any:
        whole = super().merge(states)
        world, entries = len(states), whole["lanes"]["entries"]
        for entry in entries[world - 1 :: world]:
            entry |= {"dataset": None, "iterator": None, "stated": [], "ordinal": 0, "replay": 0}
            entry |= {"ended": False, "errors": [], "content": None, "samples": 0}
        whole["position"]["samples"] = sum(entry["samples"] for entry in entries)
        counts = [max(0, entry["ordinal"]) + entry["replay"] for entry in entries]
        whole["lanes"]["next"] = counts.index(min(counts))
        return whole


Adapter = mutant(Session)
