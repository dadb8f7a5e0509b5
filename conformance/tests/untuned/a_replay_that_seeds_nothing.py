"""Makes the delivered batches of a stream again at a resume, and drops them unseeded.

Their values are not needed, but a stream may draw which sample comes next. The samples that a
shuffle buffer holds after the replay are then others than before.
"""

import random
from collections.abc import Iterator
from typing import Any

from edited import edited
from torch.utils.data import IterableDataset

FAMILY = "replays"
BREAKS = ("RESUME-1", "VAMB-1")
EDITS = [
    (
        "lane/lane.py",
        """                with self._batch(self._ordinal):
                    samples, _, self._ended = self._collect()
""",
        """                with self._scope(self._ordinal):
                    samples, _, self._ended = self._collect()
""",
    )
]


class Shuffled(IterableDataset[int]):
    """A stream with a shuffle buffer, and without a state."""

    def __iter__(self) -> Iterator[int]:
        buffer: list[int] = []
        for number in range(20):
            buffer.append(number)
            if len(buffer) == 6:
                yield buffer.pop(random.randrange(6))
        random.shuffle(buffer)
        yield from buffer


def shows(play: Any) -> Any:
    import midepoch

    def loader() -> Any:
        return midepoch.StatefulDataLoader(Shuffled(), batch_size=2, collate_fn=list, seed=8)

    one, other = loader(), loader()
    batches = iter(one)
    for _ in range(4):
        next(batches)
    other.load_state_dict(one.state_dict())
    return list(other), list(batches)


Adapter = edited(EDITS)
