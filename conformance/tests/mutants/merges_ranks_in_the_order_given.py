"""Takes the ranks' states for those of rank 0, 1, 2, in the order in which they are given."""

from typing import Any

from format_base import mutant

from midepoch_conformance.adapters import reference

EXPECTED = "WORLD-10"
LARGEST = {"workers": 0, "sessions": 4, "steps": 8, "samples": 5}


class Session(reference.Session):
    def merge(self, states: list[Any]) -> Any:
        whole = super().merge(states)
        given = [one["position"]["share"]["rank"] for one in states]
        entries, world = whole["lanes"]["entries"], len(states)
        own = range(len(entries))
        whole["lanes"]["entries"] = [
            entries[lane - lane % world + given[lane % world]] for lane in own
        ]
        return whole


Adapter = mutant(Session)
