"""A load keeps persistent workers, as a new epoch does.  How many lanes a worker may have was fixed when the workers began, and a
state may bring more lanes than they have room for: nobody opens the last ones.  Who meets it: a loader with persistent workers that
was used before, and loads a state of a run with more workers.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from _edit import build, outcome, take

BREAKS = ("RESUME-6", "ELASTIC-1")

EDITS = [
    ("loader.py",
     """        self._stop()
        self.seed = plan["seed"]
""",
     """        self._stop(keep=self.persistent)
        self.seed = plan["seed"]
"""),
]

sound, broken, Adapter = build(__file__, EDITS)


class Shards:
    def __init__(self, lane):
        self.lane = lane

    def __iter__(self):
        lane = self.lane()
        return iter(range(lane.number, 60, lane.count))


def scenario(cz):
    def loader(workers):
        return cz.Loader(Shards(cz.lane), 3, seed=4, collate_fn=list, workers=workers, method="fork", persistent=True, timeout=5)

    large, small = loader(4), loader(2)
    whole = list(large)
    large.close()
    large = loader(4)
    got = take(iter(large), 6)
    list(small)
    small.load_state_dict(large.state_dict())
    large.close()
    try:
        return got + list(small) == whole
    finally:
        small.close()


def shows():
    return outcome(scenario, sound), outcome(scenario, broken)
