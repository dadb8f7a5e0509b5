"""Loads a state whose lane replays a batch from before the sampler's snapshot."""

from format_base import mutant

from midepoch.format import consistency

EXPECTED = "DOC-9"
LARGEST = {"workers": 0, "sessions": 1, "steps": 48, "samples": 10}

consistency._check_replays = lambda lanes, sampler: None  # type: ignore[assignment]  # the mutation

Adapter = mutant()
