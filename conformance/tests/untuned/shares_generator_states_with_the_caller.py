"""Hands the states of a sampler's generators out, and takes them in, without a copy.

They are plain JSON values, but lists and dicts all the same: who changes a state, after it was
taken or loaded, changes the loader's later states and the order that it resumes.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("STATE-2", "STATE-5")
EDITS = [
    (
        "epoch/progress.py",
        """\
        generators = tuple(
            # A copy: the plain JSON values are the caller's.
            replace(one, state=thaw(freeze(one.state)))
            for one in sampler.generators
        )
""",
        "",
    ),
    (
        "epoch/progress.py",
        "        sampler = replace(sampler, generators=generators, states=states)\n",
        "        sampler = replace(sampler, states=states)\n",
    ),
]


class Mixed:
    """A sampler with a generator of its own."""

    def __init__(self) -> None:
        self.generator = random.Random(3)

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Iterator[int]:
        order = list(range(12))
        self.generator.shuffle(order)
        return iter(order)


def spoil(part: Any) -> None:
    """Change the first integer in lists and dicts."""
    places = list(part.items() if isinstance(part, dict) else enumerate(part))
    for place, value in places:
        if isinstance(value, (dict, list)):
            spoil(value)
            return
        if type(value) is int:
            part[place] = value ^ 1


def shows(play: Any) -> Any:
    import copy

    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(list(range(12)), 3, sampler=Mixed(), seed=1)
    batches = iter(loader)
    next(batches)
    state = loader.state_dict()
    before = copy.deepcopy(state)
    spoil(state["sampler"]["generators"])
    return loader.state_dict() == before, True


Adapter = edited(EDITS)
