"""Leaves out the batches that were delivered ahead only where batches come out of order.

A state that was taken out of order may be resumed in order, or without workers. The batches that
had overtaken a slow one are delivered a second time then.
"""

import time
from typing import Any

from edited import edited

FAMILY = "out of order"
BREAKS = ("UNORD-1", "ELASTIC-3", "ELASTIC-1")
EDITS = [
    (
        "epoch/schedule.py",
        "if not replay and step.index in self._loaded:",
        "if not self.in_order and not replay and step.index in self._loaded:",
    )
]


class Slow:
    """Samples of which the first takes long."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> int:
        if index == 0:
            time.sleep(1.0)  # the other worker's batches overtake this one
        return index


def shows(play: Any) -> Any:
    import midepoch

    def loader(*, in_order: bool) -> Any:
        return midepoch.StatefulDataLoader(
            Slow(), batch_size=2, collate_fn=list, num_workers=2, in_order=in_order, seed=0
        )

    one, other = loader(in_order=False), loader(in_order=True)
    batches = iter(one)
    delivered = [next(batches), next(batches)]
    other.load_state_dict(one.state_dict())
    delivered += list(other)
    return sorted(index for batch in delivered for index in batch), list(range(12))


Adapter = edited(EDITS)
