"""Tells by its truth whether the user gave ``seed`` or ``lanes``, so that a given 0 is none.

A loader with ``seed=0`` (or ``lanes=0``) takes over the seed (or the lanes) of any state, where it
would have to refuse a state of another plan.
"""

from typing import Any

from edited import edited

FAMILY = "plans"
BREAKS = ("DOC-12",)
EDITS = [
    (
        "arguments.py",
        "        return type(getattr(self, name)) is int\n",
        """\
        value = getattr(self, name)
        return bool(value) and not isinstance(value, OfLoader)
""",
    ),
]


def shows(play: Any) -> Any:
    import midepoch
    from midepoch.errors import PlanMismatchError

    make: Any = midepoch.StatefulDataLoader

    def loaded(seed: int) -> Any:
        saving = make(list(range(12)), 3, shuffle=True, seed=7)
        next(iter(saving))
        loader = make(list(range(12)), 3, shuffle=True, seed=seed)
        try:
            loader.load_state_dict(saving.state_dict())
        except PlanMismatchError:
            return "refused"
        return f"adopted seed {loader.seed}"

    return [loaded(5), loaded(0)], ["refused", "refused"]


Adapter = edited(EDITS)
