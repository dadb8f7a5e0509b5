"""Takes the steps before a new cut for steps of the new size when ranks go on with an epoch.

Their position is computed as steps times the global batch size instead of read as samples. So an
epoch that is cut anew on more ranks skips samples, and on fewer ranks repeats some.
"""

from typing import Any

from edited import edited

FAMILY = "ranks"
BREAKS = ("WORLD-7", "RESUME-7")
EDITS = [
    (
        "epoch/planning.py",
        "        place=position.samples if plan.shared else None,\n",
        "",
    ),
]


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(rank: int, world: int) -> Any:
        return make(
            list(range(24)),
            2,
            seed=1,
            ranks=(rank, world),
            on_world_change="recut",
            collate_fn=list,
        )

    saving = loader(0, 2)
    batches = iter(saving)
    next(batches)
    next(batches)
    state = saving.state_dict()
    rest = []
    for rank in range(3):
        resumed = loader(rank, 3)
        resumed.load_state_dict(state)
        rest.append(list(resumed))
    return rest


RIGHT = [[[8, 9], [14, 15], [20, 21]], [[10, 11], [16, 17], [22, 23]], [[12, 13], [18, 19], [0, 1]]]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
