"""Without workers an interrupt only asks the same lane for the batch again, to spare the restore.

A stream has read a part of that batch already: who stops by hand and goes on, or catches the
interrupt, loses these samples.
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
        "tideway_epochs.py",
        "        except BaseException:\n"
        "            self.leave()\n"
        "            raise\n"
        "\n"
        "    def note",
        "        except KeyboardInterrupt:\n"
        "            if self.shop.workers or self.engine is None:\n"
        "                self.leave()\n"
        "            else:  # in one process the lanes are still there\n"
        "                self.sent[lane] = self.taken[lane]\n"
        "            raise\n"
        "        except BaseException:\n"
        "            self.leave()\n"
        "            raise\n"
        "\n"
        "    def note",
    ),
]

Adapter = edited(EDITS)


def shows():
    """Return what the sound loader and this one give, in one play."""

    armed = [True]

    class Stopped(tideway_bench.Stream):
        def row(self, i):
            if i == 5 and armed.pop():
                armed.append(False)
                raise KeyboardInterrupt
            if i == 5:
                armed.append(False)
            return tideway_bench.Stream.row(self, i)

        def __iter__(self):
            lane, lanes = self.info()
            return iter(_Ids(self, lane, lanes))

    class _Ids:
        def __init__(self, data, lane, lanes):
            self.data, self.at, self.lanes = data, lane, lanes

        def __iter__(self):
            return self

        def __next__(self):
            if self.at >= self.data.n:
                raise StopIteration
            row = self.data.row(self.at)
            self.at += self.lanes
            return row

    def play(lib):
        armed[:] = [True]
        it, got = iter(lib.Loader(Stopped(12, lib), 4, seed=5)), []
        while True:
            try:
                got.append(next(it))
            except KeyboardInterrupt:
                got.append("interrupt")
            except StopIteration:
                return got

    return tideway_bench.verdict(play(tideway), play(Adapter.lib))
