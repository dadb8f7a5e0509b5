"""Looks after each batch whether a resumed rest is empty, and not before the first one alone.

Under ``empty_rest="skip"`` a rest that ends runs into the next epoch: the trainer's loop has one
epoch less, and the resumed one is far too long.
"""

from typing import Any

from edited import edited

FAMILY = "epochs"
BREAKS = ("EPOCH-1", "RESUME-1", "RESUME-2", "RESUME-7")
EDITS = [
    (
        "epoch/iterator.py",
        "            self._asked, turn.taken = True, False\n",
        "            turn.taken = False\n",
    ),
    (
        "epoch/iterator.py",
        "        self._current = following\n        return next(following)\n",
        "        self._current, self._asked = following, True\n        return next(following)\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader() -> Any:
        return make(range(6), 2, empty_rest="skip", collate_fn=list, seed=1)

    saving = loader()
    next(iter(saving))
    resumed = loader()
    resumed.load_state_dict(saving.state_dict())
    return list(resumed), [[2, 3], [4, 5]]


Adapter = edited(EDITS)
