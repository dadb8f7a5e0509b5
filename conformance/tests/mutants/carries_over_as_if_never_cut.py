"""Carries the samples over that an epoch leaves in batches of one size, though it had two."""

from typing import Any

from format_base import mutant

from midepoch.sampling.batches import BuiltInOrder, OrderState

EXPECTED = "WORLD-7"
LARGEST = {"workers": 0, "sessions": 4, "steps": 10, "samples": 5}


def next_epoch_state(order: Any, batches: int, *, ended: bool) -> OrderState:
    if order._carried is None:
        return OrderState(None, None)
    end = order._total - order._total % order._size
    return OrderState(None, tuple(order._indices(end, order._total)) if ended else ())


BuiltInOrder.next_epoch_state = next_epoch_state  # type: ignore[method-assign]  # the mutation

Adapter = mutant()
