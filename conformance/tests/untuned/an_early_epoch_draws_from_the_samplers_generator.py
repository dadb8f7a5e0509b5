"""Begins the next epoch early, and leaves a sampler's generator where that has brought it.

With ``prefetch_next_epoch`` every second order of the sampler is left out, and a state that is
taken at an epoch's end leads to the epoch after the next one.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORKERS-2", "WORKERS-1", "EPOCH-2", "RESUME-7", "ELASTIC-3")
EDITS = [
    (
        "sampling/chain.py",
        "        if chain is not None and back:\n            chain.put_generators(saved)\n",
        "        del saved, back\n",
    ),
]


def ahead(given: dict[str, Any]) -> dict[str, Any]:
    return {**given, "prefetch_next_epoch": bool(given["persistent_workers"])}


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=2, sampler="random", workers=1)
    return plan.whole(epochs=3, persistent=True), plan.whole(epochs=3)


Adapter = edited(EDITS, ahead)
