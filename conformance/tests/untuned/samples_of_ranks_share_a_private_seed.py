"""Makes the private generators of a sample, under ranks that share batches, from its batch's seed.

All samples of a step are augmented alike, on all ranks.
"""

from typing import Any

from edited import edited

FAMILY = "random numbers"
BREAKS = ("VOWN-2", "SEED-7", "SEED-8")
EDITS = [
    (
        "lane/lane.py",
        "BatchInfo(self.epoch, index, self.number, seeds.private, place)",
        "BatchInfo(self.epoch, index, self.number, self._words(index).private, place)",
    ),
]


class Noise:
    """Rows of a number that each draws from its private generator."""

    def __len__(self) -> int:
        return 12

    def __getitem__(self, index: int) -> float:
        from midepoch import batch_info

        return float(batch_info().numpy.random())


def shows(play: Any) -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    drawn = [
        number
        for rank in range(2)
        for batch in make(Noise(), 3, ranks=(rank, 2), seed=1, collate_fn=list)
        for number in batch
    ]
    return len(set(drawn)), 12


Adapter = edited(EDITS)
