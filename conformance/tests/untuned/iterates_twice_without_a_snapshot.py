"""Looks once whether a dataset without a snapshot can be iterated, and then iterates it.

A restart before the first snapshot opens each file twice.
"""

from typing import Any

import readers

FAMILY = "costs"
BREAKS = ("COST-4",)


class Reader(readers.Reader):
    def restore(self, entry: dict[str, Any]) -> None:
        if entry["batches"] and entry["states"] is None:
            iter(self.data)
        super().restore(entry)


def shows(play: Any) -> Any:
    fields = {"kind": "stateful_iterable", "n": 10, "batch_size": 2, "interval": 3}
    plan = play(**fields, logged=True)
    life = plan.open()
    life.take(2)
    state, before = life.state(), plan.noted("iter")
    plan.open(state).take(1)
    return plan.noted("iter") - before, 1


Adapter = readers.mutant(Reader)
