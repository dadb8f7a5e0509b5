"""Looks for the epoch that the program named where nothing was delivered yet, and not at an end.

A loop that names an epoch further on, after an epoch that was seen to its end, gets the next one.
"""

from typing import Any

from edited import edited

FAMILY = "epochs"
BREAKS = ("EPOCH-8",)
EDITS = [
    (
        "epoch/position.py",
        "        return self._moved_on(progress.next_epoch())\n",
        "        return progress.next_epoch()\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def third(named: bool) -> Any:
        loader = make(range(12), 2, shuffle=True, seed=1, collate_fn=list)
        epochs = [list(loader) for _ in range(1 if named else 3)]
        if named:
            loader.set_epoch(3)
        return epochs and list(loader)

    return third(True), third(False)


Adapter = edited(EDITS)
