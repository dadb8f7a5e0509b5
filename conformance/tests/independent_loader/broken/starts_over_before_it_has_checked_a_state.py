"""A load first puts the loader back to its beginning and then checks the state.

A program that tries a state, is refused and goes on with what it has begins at epoch 0 again, and
its live iterator is lost.
"""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("REFUSE-4",)
EDITS = [
    (
        "tideway.py",
        '        if not isinstance(state, dict) or state.get("format") != FORMAT:\n',
        "        self._run.leave()\n"
        "        self._run, self._named = self._fresh(0, ()), None\n"
        '        if not isinstance(state, dict) or state.get("format") != FORMAT:\n',
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    def play(lib):
        loader = lib.Loader(tideway_bench.Map(8, lib, draws=False), 2, seed=5, shuffle=True)
        got = [tideway_bench.epoch(loader), tideway_bench.epoch(loader, 2)]
        with contextlib.suppress(lib.StateError):
            loader.load_state_dict({})
        return (
            got,
            loader.state_dict()["epoch"],
            loader.state_dict()["delivered"],
            tideway_bench.epoch(loader),
        )

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
