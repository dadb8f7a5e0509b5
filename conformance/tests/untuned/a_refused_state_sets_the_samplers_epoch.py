"""Sets the epoch of the user's sampler before it has looked at the rest of a state.

After a refused load the run goes on, with the order of another epoch.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "DOC-13", "RESUME-7")
EDITS = [
    (
        "epoch/position.py",
        "        check_plan",
        "        if chain is not None and document.sampler is not None:\n"
        "            chain.put_epoch(document.sampler.epoch)\n"
        "        check_plan",
    ),
]


def shows(play: Any) -> Any:
    fields = {"n": 12, "sampler": "distributed", "shuffle": True}
    plan, other = (play(batch_size=size, **fields) for size in (2, 3))
    later = other.open()
    later.rest()
    refused = later.state()["loader"]
    life = plan.open()
    outcome(lambda: life.session.loader.load_state_dict(refused))
    return life.rest(), plan.whole()[0]


Adapter = edited(EDITS)
