"""The replay of a stream only skips samples, since they are dropped anyway: it does not seed the streams for the batches that it
makes again.  Samples that are kept within the stream by what was drawn are then other ones.  Who meets it: streams with a shuffle
buffer that draws from random, numpy.random or torch, and that have no state, or a snapshot only every few batches.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import random

from _edit import build, outcome, take

BREAKS = ("RESUME-1", "VAMB-1")

EDITS = [
    ("bench.py",
     """            return self.make(ordinal)[1]
""",
     """            return self.skip()
"""),
    ("bench.py",
     """    def again(self, ordinal, item):
        with dice.at(self.info, (self.job.seed, "stream",""",
     '''    def skip(self):
        """Drops the samples of a batch; whether the stream ended."""
        try:
            for _ in range(self.job.batch_size or 1):
                next(self.iterator)
        except StopIteration:
            return True
        except Exception as e:
            raise _Failed from e
        return False

    def again(self, ordinal, item):
        with dice.at(self.info, (self.job.seed, "stream",'''),
]

sound, broken, Adapter = build(__file__, EDITS)


class Buffered:
    """A stream with a shuffle buffer."""

    def __iter__(self):
        held = []
        for i in range(60):
            held.append(i)
            if len(held) > 8:
                yield held.pop(random.randrange(len(held)))
        random.shuffle(held)
        yield from held


def scenario(cz):
    def loader():
        return cz.Loader(Buffered(), 4, seed=9, collate_fn=list)

    whole = list(loader())
    first, again = loader(), loader()
    got = take(iter(first), 6)
    again.load_state_dict(first.state_dict())
    return got + list(again) == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
