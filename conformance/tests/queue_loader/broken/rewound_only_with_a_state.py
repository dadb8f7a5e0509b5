"""When an epoch is left, a sampler without a state of its own is no longer put back to the last batch delivered: "there is nothing
to load".  Its generator stays where the batches drawn ahead left it.  Who meets it: samplers with a generator that they draw from
during the epoch (RandomSampler with replacement), limits on the steps of an epoch, and workers: the next epoch depends on how far
they had read ahead.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import torch

from _edit import Rows, build, outcome, take

BREAKS = ("WORKERS-1", "RESUME-7")

EDITS = [
    ("feed.py",
     """        if mark["states"] is None and not mark["generators"]:
            return
""",
     """        if mark["states"] is None:
            return
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


def scenario(cz):
    def run(**execution):
        sampler = torch.utils.data.RandomSampler(range(200), replacement=True, generator=torch.Generator().manual_seed(4))
        loader = cz.Loader(Rows(200), 4, sampler=sampler, seed=4, collate_fn=list, **execution)
        got = [take(iter(loader), 7), list(loader)]
        loader.close()
        return got

    return run(workers=2, method="thread") == run()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
