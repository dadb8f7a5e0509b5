"""Under rollover the samples left over are counted from the dataset's length alone.

From the second epoch on, samples that were delivered open the next epoch again, or some are lost.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("EPOCH-7", "BASIS-3")
EDITS = [
    (
        "tideway_epochs.py",
        '        return self.sequence()[self.count() * self.shop.spec["batch"] :]\n',
        '        order, size = self.sequence(), self.shop.spec["batch"]\n'
        "        return order[len(order) - len(self.shop.dataset) % size :]\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        return tideway_bench.epochs(
            lib.Loader(tideway_bench.Map(10, lib, draws=False), 4, seed=5, tail="rollover"), 4
        )

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
