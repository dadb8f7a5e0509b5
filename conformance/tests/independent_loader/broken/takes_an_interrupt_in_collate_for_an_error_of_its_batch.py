"""An interrupt that arrives while a batch is put together is raised as an error of that batch.

Whoever stops a run by hand during `collate_fn`, saves in the handler and resumes has lost the
batch that was being made.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import tideway
import tideway_bench
from tideway_edited import edited

BREAKS = ("FAULT-12",)
EDITS = [
    (
        "tideway_lanes.py",
        '            except Exception as exc:\n                return "error", exc, snap, False\n',
        "            except BaseException as exc:  # a collate that exits must not end its worker\n"
        '                return "error", exc, snap, False\n',
    ),
]
Adapter = edited(EDITS)


def play(lib):
    """Interrupt the third batch while it is put together, and go on with the same iterator."""
    calls = []

    def collate(rows):
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return rows

    loader = lib.Loader(tideway_bench.Map(10, lib), 2, seed=7, collate=collate)
    batches, found = iter(loader), []
    while True:
        try:
            found.append(next(batches))
        except KeyboardInterrupt:
            found.append(("interrupted", loader.state_dict()["delivered"]))
        except StopIteration:
            return found


def shows():
    """Return what the sound loader and this one give, in one play."""
    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
