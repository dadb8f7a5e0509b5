"""Counts a key of its own batch by its length, as if it were a list of keys.

Without a batch size, each key of a sampler is a sample. If keys are texts or tuples, the state's
``position.samples`` runs far ahead of what was delivered.
"""

from typing import Any

from edited import edited

FAMILY = "without batching"
BREAKS = ("DOC-19",)
EDITS = [
    (
        "sampling/custom.py",
        "        return self._step(keys, _count(keys) if self._chain.automatic else 1, None)\n",
        "        return self._step(keys, _count(keys), None)\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    files = {"one.jpg": 1, "two.jpg": 2, "three.jpg": 3, "four.jpg": 4}
    make: Any = midepoch.StatefulDataLoader
    loader = make(files, batch_size=None, sampler=list(files), seed=1)
    counts = []
    for _ in loader:
        position = loader.state_dict()["position"]
        counts.append((position["batches"], position["samples"]))
    return counts, [(1, 1), (2, 2), (3, 3), (4, 4)]


Adapter = edited(EDITS)
