"""Counts no samples where a sampler's samples are delivered without batches."""

from typing import Any

from format_base import mutant

from midepoch.epoch import planning
from midepoch.sampling.custom import CustomOrder

EXPECTED = "DOC-19"
LARGEST = {"workers": 0, "sessions": 2, "steps": 17, "samples": 1}


class Order(CustomOrder):
    def _step(self, keys: Any, samples: int, error: Exception | None) -> Any:
        return super()._step(keys, samples if self._chain.automatic else 0, error)


planning.CustomOrder = Order

Adapter = mutant()
