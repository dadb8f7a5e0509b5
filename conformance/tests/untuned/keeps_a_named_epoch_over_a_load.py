"""Remembers the epoch that ``set_epoch`` named also after a state was loaded.

A loader that was used before, and goes back to an earlier state, jumps to that epoch after the
rest of the loaded one, or at once if nothing of it was delivered.
"""

from typing import Any

from edited import edited

FAMILY = "epochs"
BREAKS = ("RESUME-6", "EPOCH-8", "RESUME-7", "STATE-4")
EDITS = [
    (
        "epoch/position.py",
        """\
        self._epoch = 0
        self.progress, self._loaded = None, document
""",
        "        self.progress, self._loaded = None, document\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(list(range(12)), 3, shuffle=True, seed=1, collate_fn=list)

    used = loader()
    batches = iter(used)
    next(batches)
    state = used.state_dict()
    for epoch in range(1, 4):
        used.set_epoch(epoch)
        list(used)
    used.load_state_dict(state)
    fresh = loader()
    fresh.load_state_dict(state)
    return [list(used), list(used)], [list(fresh), list(fresh)]


Adapter = edited(EDITS)
