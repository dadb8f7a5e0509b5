"""Text lines as a map-style dataset, for a shuffle over all of them and for several ranks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.data import Dataset


class IndexedLines(Dataset[Any]):
    """The lines of a text file by number; ``parse`` makes a sample of a line's bytes.

    The index is a file beside the text, with the offset of each line. The first use makes it.
    """

    def __init__(self, path: str | Path, parse: Callable[[bytes], Any] = bytes.decode) -> None:
        self.path = Path(path)
        self.parse = parse
        index = self.path.with_name(f"{self.path.name}.index.npy")
        if not index.exists():
            _write_index(self.path, index)
        self.offsets = np.load(index)
        if self.offsets[-1] != self.path.stat().st_size:
            raise ValueError(f"{index} belongs to another version of {self.path}: delete it")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, number: int) -> Any:
        start, end = self.offsets[number : number + 2]
        with open(self.path, "rb") as file:
            file.seek(start)
            return self.parse(file.read(end - start).rstrip(b"\r\n"))


def _write_index(path: Path, index: Path) -> None:
    with open(path, "rb") as file:
        lengths = np.fromiter(map(len, file), dtype=np.int64)
    part = index.with_name(f"{index.name}.part")
    with open(part, "wb") as file:
        np.save(file, np.concatenate([[0], lengths.cumsum()]))
    part.replace(index)
