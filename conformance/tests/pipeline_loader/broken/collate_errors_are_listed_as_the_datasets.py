"""An exception of collate_fn is marked as one of the dataset, so the entry lists its batch, and the replay, which only
fetches, misses it. Who meets it: a plain stream with a collate_fn that raised once, resumed later in the epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('FAULT-11',)

EDITS = [
    ('lane.py',
     '        except Exception as e:\n            return Answer("error", e, len(rows))\n        return Answer("batch", value, len(rows))',
     '        except Exception as e:\n            return Answer("error", e, len(rows), bad=True)\n        return Answer("batch", value, len(rows))'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Stream:
    """A plain stream whose own iterator goes on after an error at each of `bad`; a sample is (i, a drawn number)."""

    def __init__(self, pl, n, bad=()):
        self.here, self.draw, self.n, self.bad = pl.here, pl.draw, n, bad

    def __iter__(self):
        p = self.here()
        return Steps(self.draw, range(p.lane, self.n, p.lanes), self.bad)


class Steps:
    def __init__(self, draw, ids, bad):
        self.draw, self.ids, self.bad = draw, iter(ids), bad

    def __iter__(self):
        return self

    def __next__(self):
        i = next(self.ids)
        if i in self.bad:
            raise ValueError(f"sample {i}")
        return i, round(self.draw(), 6)


def run(it):
    """All batches, errors in words."""
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            return out
        except ValueError as e:
            out.append(str(e))


def collate(rows):
    if rows[0][0] == 2:
        raise ValueError("cannot collate")
    return rows


def scenario(pl):
    first = pl.Loader(Stream(pl, 12), 2, seed=1, collate_fn=collate)
    it = iter(first)
    take(it, 1)
    try:
        next(it)
    except ValueError:
        pass
    take(it, 1)
    again = pl.Loader(Stream(pl, 12), 2, seed=1, collate_fn=collate)
    again.load_state_dict(first.state_dict())
    return run(iter(again)) == run(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
