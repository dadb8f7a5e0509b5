"""Streams of Hugging Face's ``datasets``, a fresh one for each pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterableDataset


class HFStream(IterableDataset[Any]):
    """The samples of a ``datasets.IterableDataset``, which shards by lane itself."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[Any]:
        return _Pass(copy.deepcopy(self.stream))


class _Pass(Iterator[Any]):
    """One pass; its state is the stream's own, or None before the first sample."""

    def __init__(self, stream: Any) -> None:
        self.stream, self.samples = stream, iter(stream)
        self.state: Any = None
        self.begun = False

    def __next__(self) -> Any:
        self.begun = True
        return next(self.samples)

    def state_dict(self) -> Any:
        return self.stream.state_dict() if self.begun else self.state

    def load_state_dict(self, state: Any) -> None:
        self.state, self.begun = state, False
        if state is not None:
            self.stream.load_state_dict(state)
        self.samples = iter(self.stream)
