"""Loaders with names that the whole machine shares: a lock file, a segment of shared memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from multiprocessing import resource_tracker, shared_memory
from typing import Any

NAME = "midepoch_test_of_names"


def met() -> list[int]:
    """Take the names; return which of them were taken already."""
    found = []
    lock = os.path.join(tempfile.gettempdir(), NAME)
    found.append(int(os.path.exists(lock)))
    with open(lock, "w", encoding="ascii"):
        pass
    try:
        segment = shared_memory.SharedMemory(NAME, create=True, size=16)
        # Else Python would unlink it when the process ends.
        resource_tracker.unregister(segment._name, "shared_memory")  # type: ignore[attr-defined]
        found.append(0)
    except FileExistsError:
        found.append(1)
    return found


class Names:
    """Delivers one batch: which names were taken when it was opened."""

    loader_here = True
    fork_safe, exclusive = True, False

    def offer(self) -> dict[str, Any]:
        return {"name": "names", "fork_safe": self.fork_safe, "exclusive": self.exclusive}

    def declines(self, w: Any, x: Any) -> str | None:
        return None

    def prepare(self, w: Any, root: str) -> None:
        pass

    def open(self, w: Any, x: Any, root: str) -> Names:
        self.found = met()
        return self

    def epoch(self) -> Iterator[list[list[float]]]:
        yield [[float(value) for value in self.found]]

    def state(self) -> Any:
        return {}

    def load(self, state: Any) -> None:
        pass

    def close(self) -> None:
        pass


class Exclusive(Names):
    exclusive = True


def shares_by_file(num_workers: int) -> Any:
    """Return torch's loader, whose workers share memory by the names of files."""
    import torch
    from torch.utils.data import DataLoader

    torch.multiprocessing.set_sharing_strategy("file_system")
    return DataLoader(torch.arange(12), batch_size=3, num_workers=num_workers)
