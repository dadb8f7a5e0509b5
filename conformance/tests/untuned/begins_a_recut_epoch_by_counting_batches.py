"""Begins an epoch that is cut anew at the number of batches times the new size.

The position of ranks that share a plan is kept in samples. Under another global batch size,
samples are skipped or repeated.
"""

from typing import Any

from edited import edited

FAMILY = "ranks"
BREAKS = ("WORLD-7",)
EDITS = [
    (
        "epoch/planning.py",
        """\
        place=position.samples if plan.shared else None,
""",
        """\
        place=None,
""",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    first = make(
        list(range(20)), ranks=(0, 1), global_batch_size=4, seed=3, shuffle=True, collate_fn=list
    )
    batches = iter(first)
    seen = [*next(batches), *next(batches)]
    state = first.state_dict()
    loader = make(
        list(range(20)),
        ranks=(0, 1),
        global_batch_size=6,
        seed=3,
        shuffle=True,
        collate_fn=list,
        on_world_change="recut",
    )
    loader.load_state_dict(state)
    return sorted(seen + [index for batch in loader for index in batch]), list(range(20))


Adapter = edited(EDITS)
