"""Whether an exception can be sent from a worker process is found out by pickling it; that it cannot be read again shows
in the caller's process. Who meets it: users of worker processes and of a library whose exceptions take other
arguments than their message: the caller sees a TypeError, and the same batch again and again.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-5', 'FAULT-2')

EDITS = [
    ('hosts.py',
     '        if type(pickle.loads(pickle.dumps(error))) is type(error):\n            return error\n',
     '        pickle.dumps(error)\n        return error\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Unreadable(Exception):
    """As many libraries make them."""

    def __init__(self, file, line):
        super().__init__(f"{file}, line {line}")


class Files:
    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == 3:
            raise Unreadable("a.csv", 7)
        return i


def scenario(pl):
    loader = pl.Loader(Files(), 2, workers=1, worker_kind="process", timeout=10)
    it, out = iter(loader), []
    while len(out) < 6:
        try:
            out.append(next(it))
        except StopIteration:
            break
        except Exception as e:
            out.append(type(e).__name__)
    loader.close()
    return out


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
