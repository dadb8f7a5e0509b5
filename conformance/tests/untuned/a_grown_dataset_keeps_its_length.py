"""Asks the dataset for its length once, and keeps it in the plan.

A dataset that has got more samples between two epochs never delivers these.
"""

from typing import Any

from edited import edited

FAMILY = "plans"
BREAKS = ("BASIS-3",)
EDITS = [
    (
        "epoch/position.py",
        '            return replace(self.plan, length=countable(len(self._dataset), "samples"))\n',
        "            if self.plan.length is None:\n"
        '                length = countable(len(self._dataset), "samples")\n'
        "                self.plan = replace(self.plan, length=length)\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    data = list(range(6))
    loader = make(data, 2, seed=1, shuffle=True, collate_fn=list)
    list(loader)
    data += range(6, 10)
    return sorted(sample for batch in loader for sample in batch), list(range(10))


Adapter = edited(EDITS)
