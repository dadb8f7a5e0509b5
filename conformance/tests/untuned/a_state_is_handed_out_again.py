"""Keeps the latest state, and hands it out again until the position moves.

A program that takes its states apart, or converts them in place, finds the next one so.
"""

from typing import Any

from edited import edited

FAMILY = "aliasing"
BREAKS = ("STATE-2", "RESUME-1")
EDITS = [
    (
        "loader.py",
        "        return thawed(self._position.document()).to_dict()\n",
        "        stand = self._position.stand()\n"
        "        kept = vars(self).get('_kept')\n"
        "        if kept is None or kept[0] != stand:\n"
        "            kept = stand, thawed(self._position.document()).to_dict()\n"
        "            vars(self)['_kept'] = kept\n"
        "        return kept[1]\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(12), 2, seed=1, collate_fn=list)
    batches = iter(loader)
    next(batches)
    written = loader.state_dict()
    del written["position"]  # stored elsewhere
    return sorted(loader.state_dict()), sorted([*written, "position"])


Adapter = edited(EDITS)
