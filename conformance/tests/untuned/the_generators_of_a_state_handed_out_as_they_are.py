"""Freezes the users' states in a document, and takes the generators' states as they are.

These are plain JSON values, and a NumPy generator's is a mapping of mappings. The loader keeps the
same objects for the states to come, and for the rest of a loaded epoch. What a program changes in a
state, after taking or loading it, changes them.
"""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from edited import edited

FAMILY = "aliased states"
BREAKS = ("STATE-2", "STATE-5")
EDITS = [
    (
        "epoch/progress.py",
        """        generators = tuple(
            # A copy: the plain JSON values are the caller's.
            replace(one, state=thaw(freeze(one.state)))
            for one in sampler.generators
        )
        states = {""",
        """        states = {""",
    ),
    (
        "epoch/progress.py",
        "sampler = replace(sampler, generators=generators, states=states)",
        "sampler = replace(sampler, states=states)",
    ),
]


class Batches:
    """A batch sampler that holds a generator of NumPy."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(3)

    def __iter__(self) -> Iterator[list[int]]:
        order = self.generator.permutation(12).tolist()
        for first in range(0, 12, 3):
            yield order[first : first + 3]


def shows(play: Any) -> Any:
    import midepoch

    loader: Any = midepoch.StatefulDataLoader(
        range(12), batch_sampler=Batches(), collate_fn=list, seed=0
    )
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    kept = copy.deepcopy(state)
    state["sampler"]["generators"][0]["state"]["state"].clear()  # a library that moves states
    return loader.state_dict(), kept


Adapter = edited(EDITS)
