"""Ignores unknown fields whose names begin with ``x-`` at every level of a state.

Only those of the top level are free. One in the plan or the position may change what the others
mean, and a loader that does not know it must refuse the state.
"""

from typing import Any

from edited import edited

FAMILY = "refusals"
BREAKS = ("DOC-7",)
EDITS = [
    (
        "format/checks.py",
        "    ignorable: str | None = None,\n",
        '    ignorable: str | None = "x-",\n',
    ),
]


def delivered() -> Any:
    import midepoch
    from midepoch.errors import StateFormatError

    make: Any = midepoch.StatefulDataLoader
    saving = make(list(range(8)), 2, seed=1, collate_fn=list)
    batches = iter(saving)
    next(batches)
    state = saving.state_dict()
    state["position"]["x-skip"] = [3]
    resumed = make(list(range(8)), 2, seed=1, collate_fn=list)
    try:
        resumed.load_state_dict(state)
    except StateFormatError:
        return "refused"
    return list(resumed)


RIGHT = "refused"


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
