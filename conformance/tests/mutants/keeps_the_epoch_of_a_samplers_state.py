"""Leaves a sampler under the epoch of its own state, though the program has set another."""

from format_base import mutant

from midepoch.sampling.custom import CustomOrder

EXPECTED = "EPOCH-2"
LARGEST = {"workers": 0, "sessions": 2, "steps": 5, "samples": 3}

CustomOrder._keep_epoch = lambda self, epoch: None  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
