"""Remembers the latest ``set_epoch`` when a state is loaded.

A run that is rolled back to the start of an earlier epoch goes on with the epoch that it had set.
"""

from typing import Any

from edited import edited

FAMILY = "position"
BREAKS = ("RESUME-6", "RESUME-7", "STATE-4", "EPOCH-2")
EDITS = [
    (
        "epoch/position.py",
        "        self._epoch = 0\n        self.progress, self._loaded = None, document\n",
        "        self.progress, self._loaded = None, document\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(12), 4, shuffle=True, seed=1, collate_fn=list)

    used = loader()
    states, epochs = [], []
    for epoch in range(4):
        used.set_epoch(epoch)
        states.append(used.state_dict())
        epochs.append(list(used))
    used.load_state_dict(states[1])
    return list(used), epochs[1]


Adapter = edited(EDITS)
