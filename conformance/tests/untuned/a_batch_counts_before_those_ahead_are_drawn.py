"""Counts a batch as delivered, draws those ahead from the sampler, and only then hands it over.

If Ctrl-C comes while they are drawn, that batch is lost: the same iterator goes on behind it, and
so does a state.
"""

from collections.abc import Iterator
from typing import Any

from edited import edited

FAMILY = "faults"
BREAKS = ("FAULT-12",)
EDITS = [
    (
        "epoch/iterator.py",
        "                if schedule.ahead:\n"
        "                    # It draws from the user's sampler: until then this batch is not"
        " delivered.\n"
        "                    schedule.fill(self.progress)\n"
        "                self.progress.delivered(\n",
        "                self.progress.delivered(\n",
    ),
    (
        "epoch/iterator.py",
        "                self._tally.batches += 1\n                return outcome\n",
        "                self._tally.batches += 1\n"
        "                if schedule.ahead:\n"
        "                    schedule.fill(self.progress)\n"
        "                return outcome\n",
    ),
]


class Interrupted:
    """A sampler that is interrupted at one index, once."""

    def __init__(self) -> None:
        self.waits = True

    def __len__(self) -> int:
        return 24

    def __iter__(self) -> Iterator[int]:
        for index in range(24):
            if index == 17 and self.waits:
                self.waits = False
                raise KeyboardInterrupt
            yield index


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(range(24), 2, sampler=Interrupted(), seed=1, collate_fn=list, num_workers=2)
    batches, seen = iter(loader), list[Any]()
    while len(seen) < 12:
        try:
            seen.append(next(batches))
        except KeyboardInterrupt:
            continue
        except StopIteration:
            break
    return seen, list(make(range(24), 2, seed=1, collate_fn=list))


Adapter = edited(EDITS)
