"""Restores a Stateful sampler to its first state only if a state holds one for it.

A rollback to step 0, in a loader that was used, begins where the sampler was left.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-6", "RESUME-7", "RESUME-4")
EDITS = [
    (
        "sampling/custom.py",
        "chain.first_state.apply(chain.objects, restoring=not states)",
        "chain.first_state.apply(chain.objects, restoring=False)",
    ),
]


def shows(play: Any) -> Any:
    plan = play(sampler="stateful", n=12, batch_size=2)
    life = plan.open()
    start = life.state()
    life.rest()
    life.take(2)
    life.load(start)
    return life.rest(), plan.whole()[0]


Adapter = edited(EDITS)
