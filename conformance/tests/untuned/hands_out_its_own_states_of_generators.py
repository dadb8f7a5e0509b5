"""Puts the states of a sampler's generators into a document without copying them.

Whoever changes the state that it was given, or that it has loaded, changes the loader's: the next
state has the changed generator.
"""

import copy
import random
from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("STATE-2", "STATE-5")
EDITS = [
    (
        "epoch/progress.py",
        """\
            # A copy: the plain JSON values are the caller's.
            replace(one, state=thaw(freeze(one.state)))
            for one in sampler.generators
""",
        """\
            replace(one) for one in sampler.generators
""",
    ),
]


class Order:
    def __init__(self) -> None:
        self.random = random.Random(5)

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Any:
        order = list(range(12))
        self.random.shuffle(order)
        return iter(order)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(list(range(12)), 2, sampler=Order(), seed=1, collate_fn=list)
    batches = iter(loader)
    next(batches)
    first = loader.state_dict()
    right = copy.deepcopy(first)
    first["sampler"]["generators"][0]["state"][1][0] = 7
    return loader.state_dict() == right, True


Adapter = edited(EDITS)
