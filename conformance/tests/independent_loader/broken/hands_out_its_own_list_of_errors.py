"""A state holds the lane's own list of the batches that failed, to which the lane goes on adding.

Whoever writes a checkpoint in the background while a stream fails now and then writes a list that
grew after the state was taken, and the checkpoint is refused as damaged.
"""

import copy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-1", "FAULT-11")
EDITS = [
    (
        "tideway.py",
        '                    "errors": list(track.errors),\n',
        '                    "errors": track.errors,\n',
    ),
]
Adapter = edited(EDITS)


class Flaky(tideway_bench.Stream):
    """A stream without a state that goes on after a row it cannot read."""

    def __iter__(self):
        return self.Rows(iter(range(self.n)), self.row)

    class Rows:
        """Its iterator."""

        def __init__(self, numbers, row):
            self.numbers, self.row = numbers, row

        def __next__(self):
            i = next(self.numbers)
            if i in (2, 7):
                raise OSError(f"row {i} cannot be read")
            return self.row(i)


def play(lib):
    """Save after the first of two errors, and look at the state again after the second."""
    loader = lib.Loader(Flaky(11, lib), 2, seed=7)
    batches, state, kept = iter(loader), None, None
    for _ in range(5):
        try:
            next(batches)
        except OSError:
            if state is None:
                state = loader.state_dict()
                kept = copy.deepcopy(state)
    return state == kept


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
