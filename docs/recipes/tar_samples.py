"""Samples of tar files in WebDataset's format, which the lanes share out."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info

Sample = dict[str, Any]
NAME = re.compile(r"((?:.*/)?[^/.]+)\.([^/]*)")
"""A member's name: the key of its sample, and its extension from the first dot on."""


class TarSamples(IterableDataset[Sample]):
    """Samples of tar files: the bytes of neighbouring members with one name, by extension.

    Lane l of n reads the files l, l + n, l + 2n, and so on.
    """

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self.paths = list(paths)

    def __iter__(self) -> Iterator[Sample]:
        info = get_worker_info()
        lane, lanes = (info.id, info.num_workers) if info else (0, 1)
        return _Pass(self.paths[lane::lanes])


class _Pass(Iterator[Sample]):
    """One pass over files; its state is a file's number and the offset of a member's header."""

    def __init__(self, paths: list[str | Path]) -> None:
        self.paths = paths
        self.load_state_dict({"file": 0, "offset": 0})

    def __next__(self) -> Sample:
        return next(self.samples)

    def state_dict(self) -> dict[str, int]:
        return {"file": self.file, "offset": self.offset}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.file, self.offset = state["file"], state["offset"]
        self.samples = self._read()

    def _read(self) -> Iterator[Sample]:
        while self.file < len(self.paths):
            with open(self.paths[self.file], "rb") as file:
                file.seek(self.offset)
                with tarfile.open(fileobj=file, mode="r:") as tar:
                    yield from self._samples(tar)
            self.file, self.offset = self.file + 1, 0

    def _samples(self, tar: tarfile.TarFile) -> Iterator[Sample]:
        sample: Sample = {}
        while (member := tar.next()) is not None:
            tar.members.clear()  # type: ignore[attr-defined]  # tarfile keeps all of them
            name = NAME.fullmatch(member.name)
            if name is None or not member.isfile():
                continue
            key, extension = name.groups()
            if sample and sample["__key__"] != key:
                self.offset = member.offset  # a resume begins with this member
                yield sample
                sample = {}
            content: Any = tar.extractfile(member)
            sample |= {"__key__": key, extension.lower(): content.read()}
        if sample:
            self.offset = tar.offset
            yield sample
