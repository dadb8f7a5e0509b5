"""The plan of a state is compared before anything has checked that the plan is whole.

Whoever loads a checkpoint that a tool has filtered gets an accidental KeyError instead of a
refusal, which programs that fall back on an older checkpoint do not catch.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("REFUSE-2",)
EDITS = [
    (
        "tideway.py",
        '        require(state["check"] == checksum(state), "its checksum does not match its content")\n'
        "        run = self._parse(state)\n",
        "        run = self._parse(state)  # another plan is told as such, also of a state that was edited\n"
        '        require(state["check"] == checksum(state), "its checksum does not match its content")\n',
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Load a state without some part of its plan, and one with an empty plan."""
    loader, found = lib.Loader(tideway_bench.Map(9, lib), 2, seed=7), []
    tideway_bench.epoch(loader, 2)
    for part in ("shuffle", "length", "lanes"):
        state = loader.state_dict()
        del state["plan"][part]
        try:
            lib.Loader(tideway_bench.Map(9, lib), 2, seed=7).load_state_dict(state)
        except Exception as exc:
            found.append(type(exc).__name__)
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
