"""Decoded snapshots are cached, so that a state at every step costs little.

Two states between two snapshots share the dataset's tree. A user who rewrites one (flattens it,
moves tensors) changes the next one that the loader gives.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-2",)
EDITS = [
    (
        "tideway.py",
        "                pickle.loads(track.snap) if",
        "                decoded(track.snap) if",
    ),
    (
        "tideway.py",
        "import FORMAT, KEYS, LANE_KEYS, are_counts, checksum, require",
        "import FORMAT, KEYS, LANE_KEYS, are_counts, checksum, decoded, require",
    ),
    (
        "tideway_states.py",
        "def are_counts(*values):",
        "@functools.lru_cache(maxsize=256)\n"
        "def decoded(snap):\n"
        "    return pickle.loads(snap)\n"
        "\n"
        "\n"
        "def are_counts(*values):",
    ),
    (
        "tideway_states.py",
        "import hashlib\n",
        "import functools\nimport hashlib\nimport pickle\n",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        def make():
            return lib.Loader(tideway_bench.Cursor(12, lib), 2, seed=5)

        loader = make()
        tideway_bench.epoch(loader, 3)
        loader.state_dict()["lanes"][0]["dataset"]["at"] = 0
        fresh = make()
        fresh.load_state_dict(loader.state_dict())
        return tideway_bench.epoch(fresh)

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
