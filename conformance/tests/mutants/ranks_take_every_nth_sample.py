"""Deals the samples of each batch to the ranks in turn."""

from typing import Any

from format_base import mutant

from midepoch.sampling.batches import BuiltInOrder, SharedOrder, Step

EXPECTED = "WORLD-3"
LARGEST = {"workers": 0, "sessions": 3, "steps": 10, "samples": 4}


def draw(order: Any) -> Step | None:
    step = BuiltInOrder.draw(order)
    if step is None:
        return None
    place = order._place - step.samples
    keys = step.keys[order._rank :: order._world]
    return Step(step.index, keys, step.samples, None, place=place + order._rank)


SharedOrder.draw = draw  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
