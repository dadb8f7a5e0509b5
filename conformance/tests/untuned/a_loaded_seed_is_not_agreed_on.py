"""Forgets at a load that the ranks agree on the seed, which is the saved one for all of them.

A rank that resumes without a ``seed=`` of its own can neither iterate nor save.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("WORLD-1", "RESUME-3", "STATE-4")
EDITS = [
    (
        "epoch/position.py",
        "        if self.ranks is not None:\n            self.ranks.agreed = True\n",
        "",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(**given: Any) -> Any:
        return make(range(12), 2, shuffle=True, ranks=(0, 2), collate_fn=list, **given)

    saving, resumed = loader(seed=3), loader()
    batches = iter(saving)
    next(batches)
    resumed.load_state_dict(saving.state_dict())
    rest = list(batches)
    try:
        return [resumed.state_dict()["position"]["batches"], *resumed], [1, *rest]
    except Exception as error:
        return type(error).__name__, [1, *rest]


Adapter = edited(EDITS)
