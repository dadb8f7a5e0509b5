"""Accepts a longer dataset in the middle of an epoch, as between two epochs.

A run whose dataset has grown goes on in another permutation: samples come twice, others never.
"""

from typing import Any

from edited import edited

FAMILY = "refusals"
BREAKS = ("REFUSE-3",)
EDITS = [
    (
        "epoch/planning.py",
        "    if not position.batches and None not in (saved.length, here.length):\n",
        "    grown = (here.length or 0) >= (saved.length or 0)\n"
        "    if (not position.batches or grown) and None not in (saved.length, here.length):\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(length: int) -> Any:
        return make(range(length), 2, shuffle=True, seed=1, collate_fn=list)

    saving = loader(20)
    batches = iter(saving)
    before = [key for _ in range(5) for key in next(batches)]
    resumed = loader(24)
    try:
        resumed.load_state_dict(saving.state_dict())
    except ValueError:
        return "refused", "refused"
    return sorted(before + [key for batch in resumed for key in batch]), list(range(24))


Adapter = edited(EDITS)
