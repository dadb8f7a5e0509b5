"""Before a lane iterates its dataset it makes an iterator to see whether that has a state.

Datasets that hand a loaded position to their first iterator begin again from the start after a
resume; others open their files twice.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-1", "COST-4")
EDITS = [
    (
        "tideway_lanes.py",
        "                self.iterator = iter(self.data)\n",
        "                self.stated = is_stateful(iter(self.data)) or "
        "is_stateful(self.data)\n"
        "                self.iterator = iter(self.data)\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Cursor(12, lib, draws=False), 2, seed=5, lanes=2)

        return tideway_bench.rest(make, 3, 0, 2)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
