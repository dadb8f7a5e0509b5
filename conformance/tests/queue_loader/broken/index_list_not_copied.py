"""What a sampler gives is copied if it is an array or a tensor, and no longer if it is a list: "lists are not written to".  A batch
sampler that fills one list again and again changes batches that were drawn ahead and not yet made.  Who meets it: such a batch
sampler with worker threads, or with a resume that makes several batches again.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import time

from _edit import build, outcome

BREAKS = ("BASIS-3", "WORKERS-1")

EDITS = [
    ("feed.py",
     """    if isinstance(value, list):
        return [_kept(v) for v in value]
    if isinstance(value, (torch.Tensor, numpy.ndarray)):
        return copy.deepcopy(value)
    if isinstance(value, dict):
        return {k: _kept(v) for k, v in value.items()}
    return value
""",
     """    if isinstance(value, (torch.Tensor, numpy.ndarray)):
        return copy.deepcopy(value)
    return value
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


class Filled:
    """A batch sampler with one list."""

    def __iter__(self):
        batch = [0] * 4
        for start in range(0, 48, 4):
            batch[:] = range(start, start + 4)
            yield batch


class Slow:
    def __len__(self):
        return 48

    def __getitem__(self, i):
        time.sleep(0.002)  # the sampler is ahead of the threads
        return i


def scenario(cz):
    loader = cz.Loader(Slow(), batch_sampler=Filled(), seed=1, workers=2, method="thread", collate_fn=list)
    got = [i for batch in loader for i in batch]
    loader.close()
    return got == list(range(48))


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
