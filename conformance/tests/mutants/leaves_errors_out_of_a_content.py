"""Leaves the batches that raised out of a lane's content: it agrees with itself alone."""

from typing import Any

from format_base import mutant

from midepoch.lane.lane import Lane

EXPECTED = "DOC-11"
LARGEST = {"workers": 0, "sessions": 1, "steps": 23, "samples": 29}

note = Lane._note


def without_errors(self: Lane, samples: Any) -> None:
    if samples is not None:
        note(self, samples)


Lane._note = without_errors  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
