"""Counts as many samples of a step for each rank as for this one.

The ranks fill the last step of an epoch up with samples of its beginning, which do not count. A
state that a trainer saves on that step says more samples than there are, and is refused.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-3", "WORLD-1", "WORLD-5", "DOC-6", "DOC-18", "DOC-19")
EDITS = [
    (
        "sampling/batches.py",
        "        return Step(self._index - 1, keys, stop - start, None, place=place)\n",
        "        samples = len(keys) * self._world\n"
        "        return Step(self._index - 1, keys, samples, None, place=place)\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(9), 2, ranks=(0, 2), seed=1, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    for _ in range(3):
        next(batches)
    resumed = loader()

    def epochs() -> Any:
        resumed.load_state_dict(saving.state_dict())
        return list(resumed), list(resumed)

    return outcome(epochs), ([], [[0, 1], [4, 5], [8]])


Adapter = edited(EDITS)
