"""Compares the ranks of two shares, and not of how many ranks they are.

A run that is restarted on twice as many machines loads the old states where the numbers fit, and
drops the samples of half of the ranks.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-2", "REFUSE-3", "DOC-12")
EDITS = [
    (
        "epoch/planning.py",
        "    if position.batches and position.share != share:\n",
        "    if position.batches and (position.share or [0])[0] != (share or [0])[0]:\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    sampler_of: Any = midepoch.StatefulDistributedSampler
    data = range(24)

    def loader(rank: int, world: int) -> Any:
        sampler = sampler_of(data, num_replicas=world, rank=rank, seed=1)
        return make(data, 2, sampler=sampler, seed=1, num_workers=1, collate_fn=list)

    saving = loader(1, 2)
    next(iter(saving))
    try:
        resumed = loader(1, 4)
        resumed.load_state_dict(saving.state_dict())
        return list(resumed), "PlanMismatchError"
    except ValueError as error:
        return type(error).__name__, "PlanMismatchError"


Adapter = edited(EDITS)
