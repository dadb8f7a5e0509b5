"""The text from which seeds are made joins the numbers of a place without anything between them, so sample 11 of batch 1 and
sample 1 of batch 11 have the same seed.  Who meets it: draws from carousel.rng() in batches of more than eleven samples, from the
twelfth batch on; those samples are augmented alike in each epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome

BREAKS = ("VOWN-2",)

EDITS = [
    ("order.py",
     """    text = "\\x1f".join(f"{type(p).__name__[0]}{p}" for p in place)\n""",
     """    text = "".join(map(str, place))\n"""),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    class Augmented:
        def __len__(self):
            return 640

        def __getitem__(self, i):
            return cz.rng().bytes(16)

    drawn = [d for batch in cz.Loader(Augmented(), 32, seed=3, collate_fn=list) for d in batch]
    return len(set(drawn)) == len(drawn)


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
