"""Restores ``sampler.epoch`` as an attribute, although the sampler has a ``set_epoch``.

A sampler that makes its order in ``set_epoch`` keeps the order of the first epoch after a resume,
and the resume in a later epoch is refused, or trains on the wrong samples.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import Sampler

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-1", "EPOCH-4", "EPOCH-2")
EDITS = [
    (
        "sampling/chain.py",
        '                if callable(getattr(link, "set_epoch", None)):\n'
        "                    link.set_epoch(epoch)\n"
        "                else:\n"
        "                    link.epoch = epoch\n"
        "                return\n",
        "                link.epoch = epoch\n                return\n",
    ),
]


class Turned(Sampler[int]):
    """An order that begins at another place in each epoch, and is made when the epoch is set."""

    def __init__(self) -> None:
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch
        self.order = [(i + 3 * epoch) % 10 for i in range(10)]

    def __iter__(self) -> Iterator[int]:
        return iter(self.order)

    def __len__(self) -> int:
        return 10


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(sampler: Any) -> Any:
        return make(range(10), 2, sampler=sampler, seed=1, collate_fn=list)

    sampler = Turned()
    saving = loader(sampler)
    list(saving)
    sampler.set_epoch(1)
    state = saving.state_dict()
    expected = list(saving)
    resumed = loader(Turned())
    resumed.load_state_dict(state)
    return list(resumed), expected


Adapter = edited(EDITS)
