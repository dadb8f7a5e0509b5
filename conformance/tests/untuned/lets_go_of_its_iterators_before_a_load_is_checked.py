"""Makes the live iterators stale and drops the lanes before the state to be loaded is checked.

A state of another plan is refused, but the loader is not as it was: the epoch under way cannot go
on, although the program has caught the refusal.
"""

from typing import Any

from edited import edited

FAMILY = "refusals"
BREAKS = ("DOC-13", "REFUSE-4")
EDITS = [
    (
        "loader.py",
        """\
        self._position.load(document, here, chain, adopted=adopted)
        show_plan(self, self._options, self._position.plan)
        self._pool.state_loaded()
""",
        """\
        self._pool.state_loaded()
        self._position.load(document, here, chain, adopted=adopted)
        show_plan(self, self._options, self._position.plan)
""",
    ),
]


def delivered() -> Any:
    import midepoch
    from midepoch.errors import PlanMismatchError, StaleIteratorError

    make: Any = midepoch.StatefulDataLoader
    other = make(list(range(8)), 4, seed=1, collate_fn=list).state_dict()
    loader = make(list(range(8)), 2, seed=1, collate_fn=list)
    batches = iter(loader)
    next(batches)
    try:
        loader.load_state_dict(other)
    except PlanMismatchError:
        try:
            return list(batches)
        except StaleIteratorError:
            return "stale"
    return "not refused"


RIGHT = [[2, 3], [4, 5], [6, 7]]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
