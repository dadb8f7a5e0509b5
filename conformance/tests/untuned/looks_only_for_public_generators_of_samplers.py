"""Takes no attribute that begins with an underscore for a sampler's generator.

A sampler that keeps its generator in a private attribute is not put back to the epoch's start: in
another process its order differs, and the resume is an error.
"""

import random
from typing import Any

from edited import edited

FAMILY = "samplers"
BREAKS = ("RESUME-1", "EPOCH-4")
EDITS = [
    (
        "sampling/chain.py",
        """\
                if generators.kind_of(value):
""",
        """\
                if not name.startswith("_") and generators.kind_of(value):
""",
    ),
]


class Order:
    def __init__(self) -> None:
        self._random = random.Random(5)

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Any:
        order = list(range(12))
        self._random.shuffle(order)
        return iter(order)


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    whole = make(list(range(12)), 2, sampler=Order(), seed=1, collate_fn=list)
    epochs = [list(whole), list(whole)]
    loader = make(list(range(12)), 2, sampler=Order(), seed=1, collate_fn=list)
    list(loader)
    batches = iter(loader)
    next(batches), next(batches)
    again = make(list(range(12)), 2, sampler=Order(), seed=1, collate_fn=list)
    again.load_state_dict(loader.state_dict())
    try:
        rest: Any = list(again)
    except Exception as error:
        rest = type(error).__name__
    return rest, epochs[1][2:]


Adapter = edited(EDITS)
