"""Seeds the batches of a map-style dataset by their numbers within the lane, as those of streams.

The workers' first batches are augmented alike, and so are their second ones.
"""

from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("VAMB-2", "VOWN-2", "SEED-2", "SEED-7", "DOC-11")
EDITS = [
    (
        "lane/lane.py",
        '        return derive_words(self.spec.seed, "batch.map", self.epoch, index)\n',
        "        ordinal = index // max(1, self.spec.lanes)\n"
        '        return derive_words(self.spec.seed, "batch.map", self.epoch, ordinal)\n',
    ),
]


def shows(play: Any) -> Any:
    plan = play(n=12, batch_size=1, workers=2, draws=("numpy",))
    return len({batch[0][1] for batch in plan.whole()[0]}), 12


Adapter = edited(EDITS)
