"""Takes a segment of shared memory back when its memoryview is gone, not when its last view is.

NumPy's views do not keep the memoryview, so a batch of tensors that the caller still holds counts
as dropped. The worker writes later batches over it.
"""

from typing import Any

import torch
from edited import edited
from torch.utils.data import Dataset

FAMILY = "transport"
BREAKS = ("BASIS-6",)
EDITS = [
    (
        "transport/segments.py",
        """\
        lease = self._mapped[number].lease()
        self._lent[number] = weakref.ref(lease, lambda _: self._end(number))
        return memoryview(lease).cast("B")
""",
        """\
        view = memoryview(self._mapped[number].lease()).cast("B")
        self._lent[number] = weakref.ref(view, lambda _: self._end(number))
        return view
""",
    ),
]


class Images(Dataset[torch.Tensor]):
    """Samples of 16 KiB."""

    def __len__(self) -> int:
        return 48

    def __getitem__(self, index: int) -> torch.Tensor:
        return torch.full((4096,), float(index))


def delivered() -> Any:
    import midepoch

    make: Any = midepoch.StatefulDataLoader
    loader = make(Images(), 4, seed=1, num_workers=1, multiprocessing_context="fork")
    kept = list(loader)
    return [batch[:, 0].tolist() for batch in kept]


RIGHT = [
    [0.0, 1.0, 2.0, 3.0],
    [4.0, 5.0, 6.0, 7.0],
    [8.0, 9.0, 10.0, 11.0],
    [12.0, 13.0, 14.0, 15.0],
    [16.0, 17.0, 18.0, 19.0],
    [20.0, 21.0, 22.0, 23.0],
    [24.0, 25.0, 26.0, 27.0],
    [28.0, 29.0, 30.0, 31.0],
    [32.0, 33.0, 34.0, 35.0],
    [36.0, 37.0, 38.0, 39.0],
    [40.0, 41.0, 42.0, 43.0],
    [44.0, 45.0, 46.0, 47.0],
]


def shows(play: Any) -> Any:
    return delivered(), RIGHT


Adapter = edited(EDITS)
