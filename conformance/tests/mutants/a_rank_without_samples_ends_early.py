"""Gives the last samples to the first ranks, so that the others have a batch less."""

from typing import Any

from format_base import mutant

from midepoch.sampling.batches import SharedOrder, Step

EXPECTED = "WORLD-8"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 3}

_draw = SharedOrder.draw


def draw(order: Any) -> Step | None:
    step = _draw(order)
    if step is None or step.place is None or step.place < order._total:
        return step
    return None  # what fills the last batch up is left out


SharedOrder.draw = draw  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
