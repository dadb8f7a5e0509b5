"""Asks a Stateful sampler for its state after its pass has run out.

A state after a short last batch resumes with the sampler's next pass, as the rest of this epoch.
"""

from typing import Any

from edited import edited

FAMILY = "ranks and samplers"
BREAKS = ("EPOCH-3", "DOC-10", "RESUME-7")
EDITS = [
    (
        "sampling/custom.py",
        "if self._ran_out:\n            return  # the present",
        "if self._index < 0:\n            return  # the present",
    ),
]


def shows(play: Any) -> Any:
    plan = play(sampler="stateful", n=7, batch_size=2, workers=1)
    life = plan.open()
    life.take(4)
    return plan.open(life.state()).rest(), []


Adapter = edited(EDITS)
