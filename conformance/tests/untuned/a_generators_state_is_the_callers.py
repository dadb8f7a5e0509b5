"""Keeps the lists of a loaded generator's state, which belong to the caller.

A checkpoint library that reuses its buffers changes the order of a loader that has loaded from it.
"""

from typing import Any

from edited import edited

FAMILY = "states"
BREAKS = ("STATE-5", "STATE-2")
EDITS = [
    ("epoch/progress.py", "replace(one, state=thaw(freeze(one.state)))", "replace(one)"),
]


def shows(play: Any) -> Any:
    plan = play(sampler="custom", n=12, batch_size=2)
    life = plan.open()
    life.take(2)
    state = life.state()
    resumed = plan.open(state)
    before = repr(resumed.state())
    words = state["sampler"]["generators"][0]["state"][1]
    words[:] = [0] * len(words)
    return repr(resumed.state()), before


Adapter = edited(EDITS)
