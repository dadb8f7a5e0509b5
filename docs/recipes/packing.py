"""Token sequences, packed into blocks of one length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset


class Packed(IterableDataset[torch.Tensor]):
    """Blocks of ``length`` tokens, of a source of token sequences whose iterator has a state.

    ``end`` is a token that follows each sequence. A lane's last, incomplete block is dropped.
    """

    def __init__(self, source: IterableDataset[Any], length: int, end: int | None = None) -> None:
        self.source = source
        self.length = length
        self.end = [] if end is None else [end]

    def __iter__(self) -> Iterator[torch.Tensor]:
        return _Pass(iter(self.source), self.length, self.end)


class _Pass(Iterator[torch.Tensor]):
    """One pass; its state is the source's, and the tokens left over from the last block."""

    def __init__(self, source: Any, length: int, end: list[int]) -> None:
        self.source, self.length, self.end = source, length, end
        self.left: list[int] = []

    def __next__(self) -> torch.Tensor:
        while len(self.left) < self.length:
            self.left += [*next(self.source), *self.end]
        block, self.left = self.left[: self.length], self.left[self.length :]
        return torch.tensor(block)

    def state_dict(self) -> dict[str, Any]:
        return {"source": self.source.state_dict(), "left": torch.tensor(self.left)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.source.load_state_dict(state["source"])
        self.left = state["left"].tolist()
