"""Takes the identity of the data from the loaded state, and not from the loader.

After a state of a run that named no data, later states name none either, and are loaded with any.
"""

from typing import Any

from edited import edited

FAMILY = "plans"
BREAKS = ("REFUSE-3", "DOC-12")
EDITS = [
    (
        "epoch/position.py",
        "        self.plan = replace(document.plan, data=here.data)\n",
        "        self.plan = document.plan\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def loader(data_id: str | None) -> Any:
        return make(range(12), 4, seed=1, collate_fn=list, data_id=data_id)

    old, new, other = loader(None), loader("v2"), loader("v3")
    next(iter(old))
    new.load_state_dict(old.state_dict())
    next(iter(new))
    try:
        other.load_state_dict(new.state_dict())
    except ValueError as error:
        return type(error).__name__, "PlanMismatchError"
    return list(other), "PlanMismatchError"


Adapter = edited(EDITS)
