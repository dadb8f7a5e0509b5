"""Replays map-style lanes as if their snapshots were of one batch, which those of ranks are not."""

from format_base import mutant

from midepoch.format.parts import LanesState

EXPECTED = "WORLD-10"
LARGEST = {"workers": 0, "sessions": 7, "steps": 17, "samples": 6}


def cut(lanes: LanesState) -> int:
    return sum(entry.cut for entry in lanes.entries)


LanesState.cut = property(cut)  # type: ignore[method-assign, assignment]  # the mutation

Adapter = mutant()
