"""Carries the samples left over as soon as all batches were drawn, not when the end was seen.

With workers, which draw ahead, an epoch that was broken off near its end leaves samples to the next
one: the next epoch differs from the run's without workers, and from a resumed one.
"""

from typing import Any

from edited import edited

FAMILY = "tails"
BREAKS = ("RESUME-7", "WORKERS-1")
EDITS = [
    (
        "sampling/batches.py",
        "        return OrderState(None, tuple(self._indices(self._end, self._total)) if ended "
        "else ())\n",
        "        if not ended and self._place < self._end:\n"
        "            return OrderState(None, ())\n"
        "        return OrderState(None, tuple(self._indices(self._end, self._total)))\n",
    ),
]


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader

    def run(workers: int) -> Any:
        loader = make(
            range(10),
            4,
            shuffle=True,
            seed=1,
            collate_fn=list,
            last_batch="rollover",
            num_workers=workers,
            worker_type="thread" if workers else "process",
        )
        next(iter(loader))
        return list(loader)

    return run(2), run(0)


Adapter = edited(EDITS)
