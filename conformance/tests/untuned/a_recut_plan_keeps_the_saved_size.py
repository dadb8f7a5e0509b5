"""Takes the global batch size of a loaded state for its own, although it was allowed another.

With ``on_world_change="recut"`` on another number of ranks, the steps go on in the old size, which
these ranks cannot share equally: samples come twice.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-7", "WORLD-2", "WORLD-5", "WORLD-3", "BASIS-3")
EDITS = [
    (
        "epoch/position.py",
        "        if here.shared:\n"
        "            document = replace(document, plan=replace(document.plan, "
        "batch_size=here.batch_size))\n",
        "",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(rank: int, world: int, own: int) -> Any:
        return make(
            range(16),
            own,
            seed=1,
            ranks=(rank, world),
            on_world_change="recut",
            collate_fn=list,
        )

    saving = loader(0, 2, 2)
    next(iter(saving))
    state = saving.state_dict()

    def rest() -> Any:
        delivered = []
        for rank in range(3):
            resumed = loader(rank, 3, 1)
            resumed.load_state_dict(state)
            delivered += [sample for batch in resumed for sample in batch]
        return sorted(delivered)

    return outcome(rest), list(range(4, 16))


Adapter = edited(EDITS)
