"""Gives the state of all ranks the number of steps of the lowest rank.

The whole counts fewer steps than were made if that rank's lanes have ended before another's.
"""

from typing import Any

from edited import edited
from torch.utils.data import IterableDataset, get_worker_info

FAMILY = "ranks"
BREAKS = ("DOC-19",)
EDITS = [
    (
        "format/merging.py",
        """\
    steps = max(part.position.batches for part in parts.values())
    position = replace(first.position, batches=steps)
    return _with(replace(first, position=position), own, entries, share)
""",
        """\
    return _with(first, own, entries, share)
""",
    ),
]


class Stream(IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(3 if get_worker_info().id == 0 else 12))


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    states = []
    for rank in range(2):
        loader = make(
            Stream(), 2, ranks=(rank, 2), lanes=2, seed=0, uneven="as they are", collate_fn=list
        )
        batches = iter(loader)
        for _ in range(2 if rank == 0 else 4):
            next(batches)
        states.append(loader.state_dict())
    return midepoch.merge_states(states)["position"]["batches"], 4


Adapter = edited(EDITS)
