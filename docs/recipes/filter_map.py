"""Filter and map over a stream; the stream's state passes through."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.utils.data import IterableDataset


class Filter(IterableDataset[Any]):
    """The samples of a source for which ``keep`` is true; the source's iterator has a state."""

    def __init__(self, source: IterableDataset[Any], keep: Callable[[Any], bool]) -> None:
        self.source = source
        self.keep = keep

    def __iter__(self) -> Iterator[Any]:
        source = iter(self.source)
        return _Through(source, filter(self.keep, source))


class Map(IterableDataset[Any]):
    """What ``change`` makes of each sample of a source; the source's iterator has a state."""

    def __init__(self, source: IterableDataset[Any], change: Callable[[Any], Any]) -> None:
        self.source = source
        self.change = change

    def __iter__(self) -> Iterator[Any]:
        source = iter(self.source)
        return _Through(source, map(self.change, source))


class _Through(Iterator[Any]):
    """Samples made of a source's ones, with the source's state."""

    def __init__(self, source: Any, samples: Iterator[Any]) -> None:
        self.source, self.samples = source, samples

    def __next__(self) -> Any:
        return next(self.samples)

    def state_dict(self) -> Any:
        return self.source.state_dict()

    def load_state_dict(self, state: Any) -> None:
        self.source.load_state_dict(state)
