"""The seed of a state is adopted before the rest of its plan is compared.

Whoever gives no seed, tries a checkpoint that does not fit and goes on with the run at hand gets
the later epochs in the order of the foreign run, and saves states that belong to neither.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("REFUSE-4", "RESUME-7")
EDITS = [
    (
        "tideway.py",
        '        plan, mine = state["plan"], self._plan()\n'
        "        if not self._seed_given:\n"
        '            mine["seed"] = plan["seed"]\n',
        '        plan = state["plan"]\n'
        "        if not self._seed_given:\n"
        '            self._run.seed = plan["seed"]\n'
        "        mine = self._plan()\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Try a state of another batch size in the middle of an epoch, and go on."""
    tideway_bench.other_streams(1)
    foreign = lib.Loader(tideway_bench.Map(9, lib), 3, shuffle=True)
    tideway_bench.epoch(foreign, 1)
    state = foreign.state_dict()
    tideway_bench.other_streams(2)
    loader = lib.Loader(tideway_bench.Map(9, lib), 2, shuffle=True)
    found = [tideway_bench.epoch(loader)]
    try:
        loader.load_state_dict(state)
    except ValueError:
        found.append("refused")
    return found + tideway_bench.epochs(loader, 2)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
