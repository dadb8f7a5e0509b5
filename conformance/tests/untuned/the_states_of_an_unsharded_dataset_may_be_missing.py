"""Demands the lanes of a Stateful map-style dataset only where the plan has numbered lanes.

Without workers, a state whose ``lanes`` a filter has emptied is continued, and the dataset begins
anew in the middle of the epoch.
"""

from typing import Any

from edited import edited

FAMILY = "refusals"
BREAKS = ("REFUSE-2", "DOC-9")
EDITS = [
    (
        "epoch/planning.py",
        "        if stateful and document.position.batches:\n",
        "        if stateful and document.position.batches and document.plan.lanes:\n",
    ),
]


class Tally:
    """Rows that count the fetches before them."""

    def __init__(self) -> None:
        self.seen = 0

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> tuple[int, int]:
        self.seen += 1
        return index, self.seen

    def state_dict(self) -> dict[str, int]:
        return {"seen": self.seen}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.seen = state["seen"]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    saving, resumed = (make(Tally(), 2, shuffle=True, seed=1, collate_fn=list) for _ in range(2))
    batches = iter(saving)
    next(batches)
    state = saving.state_dict()
    state["lanes"] = None
    try:
        resumed.load_state_dict(state)
    except Exception as error:
        return type(error).__name__, "StateFormatError"
    return list(resumed), list(batches)


Adapter = edited(EDITS)
