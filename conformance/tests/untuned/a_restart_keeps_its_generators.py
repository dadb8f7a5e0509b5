"""Does not renew a batch's private generators when a loaded end makes the pass begin again.

The first batch of an epoch that is resumed from its beginning draws on in the generators that the
dataset has used before its end: it has other random numbers than in the uninterrupted run.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "random numbers"
BREAKS = ("SEED-7", "EPOCH-2")
EDITS = [
    (
        "lane/lane.py",
        "        self._batch(self._ordinal)\n        renew()\n        return iterator\n",
        "        self._batch(self._ordinal)\n        return iterator\n",
    ),
]


class Drawn(IterableDataset[int]):
    """A stream that draws before it looks whether anything is left; it keeps a loaded end."""

    def __init__(self) -> None:
        self.at, self.loaded = 0, False

    def __iter__(self) -> Iterator[int]:
        if not self.loaded:
            self.at = 0
        self.loaded = False
        return self.numbers()

    def numbers(self) -> Iterator[int]:
        from midepoch import batch_info

        while True:
            drawn = int(batch_info().numpy.integers(10**9))
            if self.at == 4:
                return
            self.at += 1
            yield drawn

    def state_dict(self) -> dict[str, int]:
        return {"at": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.at, self.loaded = state["at"], True


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Drawn(), 1, seed=1, collate_fn=list, lifetime="run")

    saving = loader()
    list(saving)
    state = saving.state_dict()
    expected = list(saving)
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), expected


Adapter = edited(EDITS)
