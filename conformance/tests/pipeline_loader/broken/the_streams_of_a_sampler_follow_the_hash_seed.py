"""The seed under which a user's sampler is drawn goes through hash(), which differs from interpreter to interpreter for
texts.  Who meets it: a sampler that draws from the global streams (RandomSampler without a generator); its order is
another one in each process.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ('BASIS-2',)

EDITS = [
    ('deck.py',
     'place = Place(0, 1, epoch, derive(seed, "sampler", epoch))',
     'place = Place(0, 1, epoch, derive(hash(("sampler", seed, epoch))))'),
]

sound, broken, Adapter = build(__file__, EDITS)


import subprocess

CODE = """
import sys, torch
sys.path[:0] = {paths!r}
import {name} as pl
class Rows:
    def __len__(self): return 8
    def __getitem__(self, i): return i
print(list(pl.Loader(Rows(), 4, sampler=torch.utils.data.RandomSampler(range(8)), seed=1)))
"""


def scenario(pl):
    paths = [os.path.dirname(os.path.dirname(os.path.abspath(pl.__file__)))]
    runs = {subprocess.run([sys.executable, "-c", CODE.format(paths=paths, name=pl.__name__)], check=True, text=True,
                           capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    return f"{len(runs)} order(s) in two interpreters"


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
