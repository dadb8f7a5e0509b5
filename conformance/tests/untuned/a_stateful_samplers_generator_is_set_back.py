"""Restores a sampler's generators after the sampler has loaded its own state.

A Stateful sampler that draws each index as it goes has its generator in its state. A restart puts
this one back to the epoch's start: indices come twice, others never.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("RESUME-1", "RESUME-2", "RESUME-7", "EPOCH-4")
EDITS = [
    (
        "sampling/custom.py",
        "        if resume.batches >= 0:\n"
        "            chain.put_generators(resume.generators)  "
        "# a Stateful sampler's own load wins\n"
        "        with self._private.active():\n"
        "            load_states(chain.objects, states)\n",
        "        with self._private.active():\n"
        "            load_states(chain.objects, states)\n"
        "            if resume.batches >= 0:\n"
        "                chain.put_generators(resume.generators)\n",
    ),
]


class Drawn:
    """A Stateful sampler that draws each index from those that are left."""

    def __init__(self) -> None:
        self.generator, self.left = random.Random(1), list[int]()

    def __len__(self) -> int:
        return 12

    def __iter__(self) -> Iterator[int]:
        self.left = self.left or list(range(12))
        while self.left:
            yield self.left.pop(self.generator.randrange(len(self.left)))

    def state_dict(self) -> dict[str, Any]:
        return {"left": list(self.left), "generator": self.generator.getstate()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.left = list(state["left"])
        self.generator.setstate(state["generator"])


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(12), 2, sampler=Drawn(), seed=1, num_workers=1, collate_fn=list)

    saving = loader()
    batches = iter(saving)
    next(batches), next(batches)
    state = saving.state_dict()
    resumed = loader()
    resumed.load_state_dict(state)
    return list(resumed), list(batches)


Adapter = edited(EDITS)
