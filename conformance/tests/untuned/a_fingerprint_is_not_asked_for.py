"""Knows the data only by what the user calls them, and not by the dataset's own fingerprint.

A state of one version of a dataset is continued on another of the same length.
"""

from typing import Any

from edited import edited

FAMILY = "plans"
BREAKS = ("REFUSE-3", "DOC-12")
EDITS = [
    (
        "epoch/planning.py",
        "data=fingerprint_of(loader.dataset) if options.data_id is None else options.data_id,",
        "data=options.data_id,",
    ),
]


class Version(list[int]):
    """Rows that know which version they are."""

    def __init__(self, name: str) -> None:
        super().__init__(range(20))
        self.name = name

    def fingerprint(self) -> str:
        return self.name


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    saving, other = (make(Version(name), 4, shuffle=True, seed=1) for name in ("v1", "v2"))
    next(iter(saving))
    try:
        other.load_state_dict(saving.state_dict())
    except Exception as error:
        return type(error).__name__, "PlanMismatchError"
    return "loaded", "PlanMismatchError"


Adapter = edited(EDITS)
