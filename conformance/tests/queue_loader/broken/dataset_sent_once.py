"""Persistent worker processes are told what changed from epoch to epoch, and the dataset no longer belongs to it: they have it.  Who
meets it: programs that change the dataset between epochs (dataset.set_epoch, a curriculum, a list that grows) and keep the workers:
the workers go on with the dataset of the first epoch.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome

BREAKS = ("WORKERS-1", "WORKERS-2", "ELASTIC-3")

EDITS = [
    ("crew.py",
     """        news = {k: v for k, v in job.__dict__.items() if k != "dataset" and v is not old[k] and v != old[k]}
        if "packed" in news:
            news["dataset"] = None
""",
     """        news = {k: v for k, v in job.__dict__.items() if k not in ("dataset", "packed") and v is not old[k] and v != old[k]}
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


class Told:
    """A stream whose order follows from the epoch that it is told."""

    epoch = 0

    def __iter__(self):
        return iter([(i * 7 + self.epoch * 5) % 30 for i in range(30)])


def scenario(cz):
    def run(**execution):
        dataset = Told()
        loader = cz.Loader(dataset, 3, seed=4, lanes=1, collate_fn=list, **execution)
        got = []
        for dataset.epoch in range(3):
            got.append(list(loader))
        loader.close()
        return got

    return run(workers=1, method="fork", persistent=True) == run()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
