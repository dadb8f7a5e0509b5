"""The indices of a shuffled order stay NumPy's integers, also those that a state carries.

Whoever rolls over a shuffled dataset and writes checkpoints as JSON cannot write those between
the second epoch and the last.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-3",)
EDITS = [
    (
        "tideway_epochs.py",
        ".permutation(len(indices)).tolist()",
        ".permutation(len(indices))",
    ),
    (
        "tideway_states.py",
        "    return all(type(value) is int and value >= 0 for value in values)\n",
        "    return all(\n"
        "        isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= 0\n"
        "        for value in values\n"
        "    )\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Write states of two epochs as JSON and go on from the last one."""
    loader = lib.Loader(tideway_bench.Map(7, lib), 3, shuffle=True, seed=7, tail="rollover")
    found = []
    for batches in (1, None, 1):
        tideway_bench.epoch(loader, batches)
        try:
            state = json.loads(json.dumps(loader.state_dict()))
        except TypeError as exc:
            found.append(str(exc))
            continue
        again = lib.Loader(tideway_bench.Map(7, lib), 3, shuffle=True, seed=7, tail="rollover")
        again.load_state_dict(state)
        found.append(tideway_bench.epoch(again))
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
