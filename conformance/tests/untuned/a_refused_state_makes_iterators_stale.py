"""Makes the live iterators stale before it looks whether a state can be loaded.

A program that tries an old checkpoint, and trains on when it is refused, meets an error.
"""

from typing import Any

from edited import edited
from play import outcome

FAMILY = "refusals"
BREAKS = ("REFUSE-4", "DOC-13")
EDITS = [
    ("loader.py", "        self._pool.state_loaded()\n", ""),
    (
        "loader.py",
        "        self._position.load(document, here, chain, adopted=adopted)\n",
        "        self._pool.state_loaded()\n"
        "        self._position.load(document, here, chain, adopted=adopted)\n",
    ),
]


def shows(play: Any) -> Any:
    plan, other = (play(n=12, batch_size=size) for size in (2, 3))
    life = plan.open()
    life.take(2)
    refused = other.open().state()
    outcome(lambda: life.session.load(refused))
    return outcome(lambda: life.rest()), plan.whole()[0][2:]


Adapter = edited(EDITS)
