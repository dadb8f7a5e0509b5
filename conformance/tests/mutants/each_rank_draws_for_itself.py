"""Counts the places by which samples are seeded within a rank's own share."""

from typing import Any

from format_base import mutant

from midepoch.sampling.batches import SharedOrder, Step

EXPECTED = "WORLD-6"
LARGEST = {"workers": 0, "sessions": 3, "steps": 6, "samples": 2}

_draw = SharedOrder.draw


def draw(order: Any) -> Step | None:
    step = _draw(order)
    if step is not None and step.place is not None:
        step.place = step.place // order._world
    return step


SharedOrder.draw = draw  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
