"""An iterator that has reported its end ends the loader's epoch once more each time it is asked.

Whoever wraps the loader in something that asks an ended iterator again, such as a buffer that
reads ahead, skips an epoch each time.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-7", "EPOCH-2")
EDITS = [
    (
        "tideway.py",
        "        if self.run is None:\n"
        "            raise StopIteration\n"
        "        if self.loader._run is not self.run:\n",
        "        if self.run is not None and self.loader._run is not self.run:\n",
    ),
    (
        "tideway.py",
        "        answer = self.run.step()\n",
        "        answer = self.run and self.run.step()\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Ask an ended iterator again, and deliver and save what follows."""
    loader = lib.Loader(tideway_bench.Map(6, lib), 2, shuffle=True, seed=7)
    batches = iter(loader)
    first = [list(batches), list(batches)]
    return [first, loader.state_dict()["epoch"], *tideway_bench.epochs(loader, 1)]


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
