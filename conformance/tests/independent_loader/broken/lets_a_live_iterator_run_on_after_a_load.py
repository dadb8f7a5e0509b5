"""An iterator asks whether it has ended, not whether it was overtaken.

A rollback within a loop over the loader is ignored, and the end of that loop moves the loaded
position on to the next epoch.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-5", "RESUME-8")
EDITS = [
    (
        "tideway.py",
        "        if self.loader._run is not self.run:\n"
        "            raise StaleIteratorError(\n"
        '                "a state was loaded, or another iteration begun: make a '
        'new one"\n'
        "            )\n",
        "",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        loader = lib.Loader(tideway_bench.Map(10, lib, draws=False), 2, seed=5, shuffle=True)
        it = iter(loader)
        state = [next(it), next(it), loader.state_dict()][2]
        got = [next(it), next(it)]
        loader.load_state_dict(state)
        try:
            got.append(next(it))
            got.extend(it)
        except lib.StaleIteratorError:
            got.append("stale")
        return got, tideway_bench.epoch(loader)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
