"""A worker process sends an exception if it can be pickled, and does not look whether it can be read again.  Who meets
it: worker processes and an exception class whose constructor has more arguments than it passes on; the caller gets a
TypeError, and gets it again at each further request, because the batch never counts.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-5',)

EDITS = [
    ('hosts.py',
     '        if type(pickle.loads(pickle.dumps(error))) is type(error):\n            return error',
     '        pickle.dumps(error)\n        return error'),
]

sound, broken, Adapter = build(__file__, EDITS)


class BadRecord(Exception):
    def __init__(self, place, why):
        super().__init__(f"record {place}: {why}")


class Rows:
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 3:
            raise BadRecord(i, "checksum")
        return i


def scenario(pl):
    loader = pl.Loader(Rows(), 2, seed=1, workers=1, worker_kind="process")
    it, got = iter(loader), []
    for _ in range(6):
        try:
            got.append(next(it))
        except StopIteration:
            break
        except Exception as e:
            got.append("BadRecord" if "BadRecord" in f"{type(e)}{e}" and not isinstance(e, TypeError) else type(e).__name__)
    loader.close()
    return got


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
