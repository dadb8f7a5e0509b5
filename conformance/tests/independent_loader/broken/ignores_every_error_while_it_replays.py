"""A replay drops each exception of the dataset, and not only those that the run before had raised.

A file that cannot be read for a moment during a restart leaves the dataset elsewhere than saved,
and nobody is told.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-10", "FAULT-13")
EDITS = [
    (
        "tideway_lanes.py",
        '                if done not in ticket["errors"]:\n'
        "                    raise\n"
        "                return\n",
        "                return\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    resuming = [False]

    class Once(tideway_bench.ItState):
        """Raises at sample 2 in the resuming run only, before it has moved on."""

        def row(self, i):
            if i == 2 and resuming[0]:
                resuming[0] = False
                raise OSError("not now")
            return tideway_bench.ItState.row(self, i)

    def play(lib):
        def make():
            return lib.Loader(Once(12, lib), 2, seed=5, snapshot_every=4)

        resuming[0] = False
        first = make()
        tideway_bench.epoch(first, 3)
        state = first.state_dict()
        resuming[0] = True
        second = make()
        second.load_state_dict(state)
        it, got = iter(second), []
        for _ in range(5):
            try:
                got.append(next(it))
            except StopIteration:
                break
            except OSError as exc:
                got.append(repr(exc))
        return got

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
