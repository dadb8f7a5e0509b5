"""The text from which a seed is derived puts its numbers one after the other without anything between, so lane 1
with batch 10 and lane 11 with batch 0 have one seed.  Who meets it: a stream in a dozen lanes or more, whose
samples are augmented with equal numbers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('VOWN-2',)

EDITS = [
    ('place.py',
     '    text = "pullline|" + "|".join(map(str, parts))',
     '    text = "pullline|" + "".join(map(str, parts))'),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(pl):
    class Draws:
        def __iter__(self):
            return (pl.draw() for _ in range(12))

    drawn = [x for batch in pl.Loader(Draws(), 1, seed=1, lanes=12) for x in batch]
    return f"{len(drawn) - len(set(drawn))} of {len(drawn)} draws were drawn before"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
