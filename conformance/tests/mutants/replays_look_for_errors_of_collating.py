"""Notes an error of the collate_fn as one that a replay meets again."""

from typing import Any

from format_base import mutant

from midepoch.lane.lane import Failure, Lane

EXPECTED = "DOC-6"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 1}

look_up = Lane._look_up


def as_the_datasets(self: Lane, *arguments: Any) -> Any:
    outcome = look_up(self, *arguments)
    if isinstance(outcome, Failure) and type(outcome.error).__name__ == "WorkloadError":
        return Failure(outcome.error, fetching=True)
    return outcome


Lane._look_up = as_the_datasets  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
