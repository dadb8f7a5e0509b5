"""A replay does not seed the streams for the batches that it drops, because nobody sees what they draw.  Who meets it: streams that
remember what they drew (a shuffle buffer, a mixture of sources), with batches between the snapshot and the position.
"""
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import Rows, build, on, outcome, take

BREAKS = ('RESUME-1', 'VAMB-1')

EDITS = [
    ('bench.py',
     '        rows = []\n        self.bench.seed(*place)\n        try:\n            while',
     '        rows = []\n        if not self.replaying:\n            self.bench.seed(*place)\n        try:\n            while'),
    ('bench.py',
     '    iterator = None\n\n    def __init__',
     '    iterator, replaying = None, True\n\n    def __init__'),
    ('bench.py',
     '                raise ReplayError(f"lane {self.number} ended in the replay of its batch {ordinal}: the stream got shorter")\n',
     '                raise ReplayError(f"lane {self.number} ended in the replay of its batch {ordinal}: the stream got shorter")\n        self.replaying = False\n'),
]

sound, broken, Adapter = build(__file__, EDITS)


class Buffer:
    """A shuffle buffer over 0 .. 29."""

    def __iter__(self):
        held = []
        for i in range(30):
            held.append(i)
            if len(held) > 8:
                yield held.pop(random.randrange(len(held)))
        random.shuffle(held)
        yield from held


def scenario(cz):
    random.seed(0)
    first = cz.Loader(Buffer(), 3, seed=1, collate_fn=list)
    got = take(iter(first), 4)
    again = cz.Loader(Buffer(), 3, seed=1, collate_fn=list)
    again.load_state_dict(first.state_dict())
    return sorted(i for batch in got + list(again) for i in batch)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
