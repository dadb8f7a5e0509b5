"""Training loaders over a stream that is divided among the workers, and over random access."""

from __future__ import annotations

from collections.abc import Iterator

from torch.utils.data import IterableDataset, get_worker_info

import midepoch


class Stream(IterableDataset[int]):
    def __iter__(self) -> Iterator[int]:
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        yield from range(first, 12, step)


def over_a_stream(num_workers: int) -> midepoch.StatefulDataLoader[int]:
    return midepoch.StatefulDataLoader(Stream(), 2, num_workers=num_workers)


def over_a_list(num_workers: int) -> midepoch.StatefulDataLoader[int]:
    return midepoch.StatefulDataLoader(range(12), 2, num_workers=num_workers)  # type: ignore[arg-type]  # torch takes any sequence
