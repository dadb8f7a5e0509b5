"""Keeps the seed that it has drawn itself when a state is loaded.

A user who gives no seed gets another order for the rest of the epoch.
"""

from typing import Any

from edited import edited

FAMILY = "plans"
BREAKS = ("RESUME-1", "RESUME-7", "RESUME-4", "EPOCH-1")
EDITS = [
    (
        "epoch/position.py",
        "self.plan = replace(document.plan, sampler_name=here.sampler_name)",
        "self.plan = replace(document.plan, seed=here.seed, sampler_name=here.sampler_name)",
    ),
]


def without_seed(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "seed": None}


def shows(play: Any) -> Any:
    import torch

    plan = play(n=20, batch_size=2, shuffle=True)
    torch.manual_seed(1)
    life = plan.open()
    life.take(2)
    state = life.state()
    torch.manual_seed(2)
    return plan.open(state).rest(), life.rest()


class Adapter(edited(EDITS, without_seed)):  # type: ignore[misc]  # a class made above
    """Gives no seed: the format's classes, which are about given ones, are not offered."""

    def offer(self) -> Any:
        return {**super().offer(), "formats": ()}
