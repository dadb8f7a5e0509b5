"""Rows of Parquet files that the lanes share out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from torch.utils.data import IterableDataset, get_worker_info

Row = dict[str, Any]


class ParquetRows(IterableDataset[Row]):
    """The rows of Parquet files, as dictionaries of the ``columns`` (by default all).

    Lane l of n reads the files l, l + n, l + 2n, and so on.
    """

    def __init__(self, paths: Sequence[str | Path], columns: list[str] | None = None) -> None:
        self.paths = list(paths)
        self.columns = columns

    def __iter__(self) -> Iterator[Row]:
        info = get_worker_info()
        lane, lanes = (info.id, info.num_workers) if info else (0, 1)
        return _Pass(self.paths[lane::lanes], self.columns)


class _Pass(Iterator[Row]):
    """One pass over files; its state is a file's number, a row group and a row of it."""

    def __init__(self, paths: list[str | Path], columns: list[str] | None) -> None:
        self.paths, self.columns = paths, columns
        self.load_state_dict({"file": 0, "group": 0, "row": 0})

    def __next__(self) -> Row:
        return next(self.samples)

    def state_dict(self) -> dict[str, int]:
        return {"file": self.file, "group": self.group, "row": self.row}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.file, self.group, self.row = state["file"], state["group"], state["row"]
        self.samples = self._read()

    def _read(self) -> Iterator[Row]:
        while self.file < len(self.paths):
            with pq.ParquetFile(self.paths[self.file]) as file:
                while self.group < file.num_row_groups:
                    # Arrow's own threads do not survive the fork of a worker process.
                    table = file.read_row_group(self.group, self.columns, use_threads=False)
                    for batch in table.slice(self.row).to_batches(max_chunksize=1024):
                        for row in batch.to_pylist():
                            self.row += 1
                            yield row
                    self.group, self.row = self.group + 1, 0
            self.file, self.group = self.file + 1, 0
