"""A lane keeps one tree of its dataset's state and writes each new state into it, key by key.

Whoever's dataset drops keys from its state, say of buffers that it has emptied, gets them back at
a resume and delivers their samples again.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("STATE-6", "RESUME-1")
EDITS = [
    (
        "tideway_lanes.py",
        "\n\nclass Lane:\n",
        "\n"
        "\n"
        "def merged(old, new):\n"
        '    """Write a tree into another one, whose mappings are used again."""\n'
        "    if type(old) is not dict or type(new) is not dict:\n"
        "        return new\n"
        "    for key, value in new.items():\n"
        "        old[key] = merged(old.get(key), value)\n"
        "    return old\n"
        "\n"
        "\n"
        "class Lane:\n",
    ),
    (
        "tideway_lanes.py",
        '        self.where = (ticket["lane"], ticket["lanes"])\n',
        '        self.where, self.tree = (ticket["lane"], ticket["lanes"]), None\n',
    ),
    (
        "tideway_lanes.py",
        '                states["dataset"] = self.data.state_dict()\n',
        "                self.tree = merged(self.tree, copy.deepcopy(self.data.state_dict()))\n"
        '                states["dataset"] = self.tree\n',
    ),
]
Adapter = edited(EDITS)


class Buffered(tideway_bench.Stream):
    """A stream of pairs: the second one of a pair waits in a buffer, which the state holds."""

    at, held = 0, None

    def __iter__(self):
        self.held = self.held or {}
        while self.at < self.n or self.held:
            if self.held:
                yield self.held.popitem()[1]
            else:
                self.at += 2
                self.held[f"row {self.at - 1}"] = self.row(self.at - 1)
                yield self.row(self.at - 2)

    def state_dict(self):
        """Return the position and what waits."""
        return {"at": self.at, "held": dict(self.held or {})}

    def load_state_dict(self, state):
        """Go on from a position."""
        self.at, self.held = state["at"], dict(state["held"])


def play(lib):
    """Save in the middle, load and play on."""
    return tideway_bench.rest(
        lambda: lib.Loader(Buffered(10, lib, draws=False), 1, seed=7), k=4, count=1
    )


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
