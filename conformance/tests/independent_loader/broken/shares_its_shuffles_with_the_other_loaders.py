"""Shuffled orders are kept for all loaders of the process by length and epoch, without the seed.

Whoever has two shuffled loaders over equally long datasets in one process gets the first one's
order from both, and another order where the second one is resumed alone.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("RESUME-7",)
EDITS = [
    (
        "tideway_epochs.py",
        "\n\nclass Track:\n",
        "\n"
        "_ORDERS = {}  # a permutation takes long for a large dataset, and an epoch is often opened twice\n"
        "\n"
        "\n"
        "class Track:\n",
    ),
    (
        "tideway_epochs.py",
        '                seed = np.random.SeedSequence(place_words("order", self.seed, self.epoch))\n'
        "                indices = (\n"
        "                    np.random.Generator(np.random.Philox(seed)).permutation(len(indices)).tolist()\n"
        "                )\n",
        "                key = len(indices), self.epoch\n"
        "                if key not in _ORDERS:\n"
        '                    seed = np.random.SeedSequence(place_words("order", self.seed, self.epoch))\n'
        "                    draws = np.random.Generator(np.random.Philox(seed))\n"
        "                    while len(_ORDERS) > 3:\n"
        "                        del _ORDERS[next(iter(_ORDERS))]\n"
        "                    _ORDERS[key] = draws.permutation(len(indices)).tolist()\n"
        "                indices = _ORDERS[key]\n",
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Deliver an epoch of one loader, and then an epoch of another with another seed."""
    one = lib.Loader(tideway_bench.Map(8, lib), 2, shuffle=True, seed=1)
    two = lib.Loader(tideway_bench.Map(8, lib), 2, shuffle=True, seed=2)
    tideway_bench.epoch(one)
    return tideway_bench.epoch(two)


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
