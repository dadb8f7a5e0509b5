"""Text lines, or JSON Lines, from files that the lanes share out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info


class TextLines(IterableDataset[Any]):
    """The lines of text files; ``parse`` makes a sample of a line's bytes.

    Lane l of n reads the files l, l + n, l + 2n, and so on.
    """

    def __init__(
        self, paths: Sequence[str | Path], parse: Callable[[bytes], Any] = bytes.decode
    ) -> None:
        self.paths = list(paths)
        self.parse = parse

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        lane, lanes = (info.id, info.num_workers) if info else (0, 1)
        return _Pass(self.paths[lane::lanes], self.parse)


class _Pass(Iterator[Any]):
    """One pass over files; its state is a file's number and a byte offset."""

    def __init__(self, paths: list[str | Path], parse: Callable[[bytes], Any]) -> None:
        self.paths, self.parse = paths, parse
        self.load_state_dict({"file": 0, "offset": 0})

    def __next__(self) -> Any:
        return next(self.samples)

    def state_dict(self) -> dict[str, int]:
        return {"file": self.file, "offset": self.offset}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.file, self.offset = state["file"], state["offset"]
        self.samples = self._read()

    def _read(self) -> Iterator[Any]:
        while self.file < len(self.paths):
            with open(self.paths[self.file], "rb") as file:
                file.seek(self.offset)
                for line in file:
                    self.offset += len(line)
                    yield self.parse(line.rstrip(b"\r\n"))
            self.file, self.offset = self.file + 1, 0
