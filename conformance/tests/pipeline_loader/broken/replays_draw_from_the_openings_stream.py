"""A replay runs under the numbers of the lane's opening and not under those of each batch. Who meets it: a plain stream
whose order depends on its own draws, such as a shuffle buffer in the dataset: after a resume the buffer holds other
samples.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VOWN-1', 'RESUME-7')

EDITS = [
    ('lane.py',
     '        with at(self._batch_place(index), self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception:',
     '        with at(self._place("open", self.number), self.streams):\n            try:\n                rows = self._fetch(indices)\n            except Exception:'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Buffered:
    def __init__(self, draw, n):
        self.draw, self.n = draw, n

    def __iter__(self):
        buffer = []
        for i in range(self.n):
            buffer.append(i)
            if len(buffer) == 4:
                yield buffer.pop(int(self.draw() * 4))
        yield from buffer


def scenario(pl):
    first = pl.Loader(Buffered(pl.draw, 20), 2, seed=1)
    it = iter(first)
    take(it, 4)
    again = pl.Loader(Buffered(pl.draw, 20), 2, seed=1)
    again.load_state_dict(first.state_dict())
    return list(again) == list(it)



def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
