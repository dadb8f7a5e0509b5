"""Lets the loader follow the progress of before an interrupt after the same iterator has gone on.

The iterator delivers the right batches, but every state taken from then on says the place of the
interrupt.
"""

import contextlib
from typing import Any

from edited import edited

FAMILY = "interrupts"
BREAKS = ("FAULT-12", "DOC-19")
EDITS = [
    (
        "epoch/opening.py",
        """\
        begun = self._begin(document, continuing=False, replay_only=replay_only, restored=True)
        self.position.enter(begun[0].progress)
        return begun
""",
        """\
        return self._begin(document, continuing=False, replay_only=replay_only, restored=True)
""",
    ),
]


class Rows:
    interrupts = True

    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> int:
        if index == 3 and Rows.interrupts:
            Rows.interrupts = False
            raise KeyboardInterrupt
        return index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    Rows.interrupts = True
    loader = make(Rows(), 1, seed=1, collate_fn=list)
    batches = iter(loader)
    seen = []
    while len(seen) < 6:
        with contextlib.suppress(KeyboardInterrupt):
            seen += next(batches)
    again = make(Rows(), 1, seed=1, collate_fn=list)
    again.load_state_dict(loader.state_dict())
    return [seen, [index for batch in again for index in batch]], [
        list(range(6)),
        list(range(6, 10)),
    ]


Adapter = edited(EDITS)
