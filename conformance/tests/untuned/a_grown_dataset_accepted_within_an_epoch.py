"""Lets a state be loaded for a dataset that has grown since: its new samples come last.

Between two epochs that is right. Within one the order of a shuffled epoch follows from the length,
and the rest of another order repeats some of the delivered samples and leaves out others.
"""

from typing import Any

from edited import edited

FAMILY = "another plan"
BREAKS = ("REFUSE-3", "DOC-12")
EDITS = [
    (
        "epoch/planning.py",
        """    if not position.batches and None not in (saved.length, here.length):
        ignored.add("length")  # a dataset may have grown between two epochs
""",
        """    lengths = saved.length, here.length
    if None not in lengths and (not position.batches or (lengths[0] or 0) < (lengths[1] or 0)):
        ignored.add("length")  # a dataset may have grown
""",
    )
]


def shows(play: Any) -> Any:
    import midepoch

    def loader(length: int) -> Any:
        return midepoch.StatefulDataLoader(
            range(length), batch_size=5, shuffle=True, collate_fn=list, seed=4
        )

    one, other = loader(20), loader(30)
    batches = iter(one)
    delivered = [next(batches), next(batches)]
    try:
        other.load_state_dict(one.state_dict())
    except midepoch.errors.PlanMismatchError:
        return "refused", "refused"
    delivered += list(other)
    return sorted(i for batch in delivered for i in batch), list(range(30))


Adapter = edited(EDITS)
