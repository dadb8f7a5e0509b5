"""Of a worker's exception it is tried whether it can be pickled, not whether it can be read back.

Whoever's dataset raises an exception whose class takes several arguments gets a TypeError in a
worker's place, at the same batch again and again, and never the batches after it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-5", "FAULT-2")
EDITS = [
    (
        "tideway_workers.py",
        "        pickle.loads(pickle.dumps(exc))\n        return exc\n",
        "        pickle.dumps(exc)\n        return exc\n",
    ),
]
Adapter = edited(EDITS)


class UnreadableError(Exception):
    """An exception with arguments of its own."""

    def __init__(self, file, row):
        super().__init__(f"{file}: row {row}")


class Torn(tideway_bench.Map):
    """Random access, with one row that cannot be read."""

    def __getitem__(self, i):
        if i == 4:
            raise UnreadableError("a.bin", i)
        return self.row(i)


def play(lib):
    """Catch what is raised, and go on with the same iterator."""
    loader, found = lib.Loader(Torn(8, lib, draws=False), 2, seed=7, workers=1), []
    batches = iter(loader)
    for _ in range(6):
        try:
            found.append(next(batches))
        except StopIteration:
            break
        except Exception:
            found.append("an error")
    loader.close()
    return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
