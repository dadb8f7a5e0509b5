"""Goes on with restored lanes after an interrupt, and counts in the position of before.

The loader takes its states from the new one, on which nobody counts: whoever presses Ctrl-C in a
notebook and goes on saves the position of the interrupt for the rest of the epoch.
"""

from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-12", "RESUME-7", "DOC-19", "RESUME-1")
EDITS = [
    (
        "epoch/iterator.py",
        "        self.progress, self._schedule = started.progress, started.schedule\n"
        "        self._team",
        "        self._schedule = started.schedule\n        self._team",
    ),
]


class Interrupted:
    """Rows, of which one is interrupted when it is read for the first time."""

    def __init__(self) -> None:
        self.waits = True

    def __len__(self) -> int:
        return 20

    def __getitem__(self, index: int) -> int:
        if index == 7 and self.waits:
            self.waits = False
            raise KeyboardInterrupt
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(Interrupted(), 2, seed=1, collate_fn=list)

    life = loader()
    batches, seen = iter(life), list[Any]()
    while len(seen) < 6:
        try:
            seen.append(next(batches))
        except KeyboardInterrupt:
            continue
    resumed = make(range(20), 2, seed=1, collate_fn=list)
    resumed.load_state_dict(life.state_dict())
    return seen + list(resumed), list(make(range(20), 2, seed=1, collate_fn=list))


Adapter = edited(EDITS)
