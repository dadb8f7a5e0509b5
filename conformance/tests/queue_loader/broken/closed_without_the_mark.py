"""close() ends the live iteration without noting the place of a custom sampler first.  The position keeps its number of batches,
and the pass of the sampler that they belong to is forgotten.  Who meets it: programs that close the loader within an epoch (to
free the workers for an evaluation, or in a finally clause) and save or iterate it afterwards, with a sampler of their own.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

from _edit import Rows, build, outcome, take

BREAKS = ("RESUME-7",)

EDITS = [
    ("loader.py",
     """        run = self._run
        if run is not None and not run.finished and run.feed is not None and (run.feed.drawn or self._point.batches):
            self._point, self._loaded = self._marked(), True
        self._stop()
""",
     "        self._stop()\n"),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def loader():
        sampler = torch.utils.data.RandomSampler(range(30), generator=torch.Generator().manual_seed(4))
        return cz.Loader(Rows(30), 3, sampler=sampler, seed=1, collate_fn=list)

    whole = list(loader())
    first = loader()
    got = take(iter(first), 4)
    first.close()
    return got + list(first) == whole


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
