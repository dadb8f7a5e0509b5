"""The recorded states: what versions of torchdata saved, and how their runs went on."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from midepoch.encoding import canonical

FOLDER = Path(__file__).parent / "states"
VERSIONS = ("0.8.0", "0.9.0", "0.10.1", "0.11.0")


@dataclass(frozen=True, eq=False)
class Recorded:
    """One state, and the batches that the uninterrupted run delivered after it."""

    version: str
    program: str
    workers: int
    interval: int
    persistent: bool
    epoch: int
    batches: int
    tree: Any
    expected: list[Any]
    """The rest of its epoch, and the two epochs after it."""

    @property
    def name(self) -> str:
        persistent = "-persistent" if self.persistent else ""
        execution = f"{self.workers}w-every{self.interval}{persistent}"
        return f"{self.version}-{self.program}-{execution}-{self.epoch}.{self.batches}"

    def state(self) -> dict[str, Any]:
        """A new state."""
        state: dict[str, Any] = canonical.loads(json.dumps(self.tree))
        return state

    @property
    def since(self) -> int:
        """Batches delivered since the snapshot."""
        return int(self.tree.get("_steps_since_snapshot", 0))

    @property
    def finished(self) -> bool:
        """The end of the epoch was seen: the position is the next one's beginning."""
        return bool(self.tree["_iterator_finished"])


@lru_cache
def recorded(version: str) -> tuple[Recorded, ...]:
    """All that was recorded of one version."""
    document = json.loads(gzip.decompress((FOLDER / f"{version}.json.gz").read_bytes()))
    return tuple(_each(version, document))


def _each(version: str, document: dict[str, Any]) -> Iterator[Recorded]:
    for run in document["runs"]:
        for saved in run["states"]:
            epoch, batches = saved["epoch"], saved["batches"]
            epochs = run["epochs"]
            yield Recorded(
                version,
                run["program"],
                run["workers"],
                run["interval"],
                run["persistent"],
                epoch,
                batches,
                _unpooled(saved["state"], document["tensors"]),
                [epochs[epoch][batches:], *epochs[epoch + 1 : epoch + 3]],
            )


def _unpooled(tree: Any, pool: dict[str, Any]) -> Any:
    if isinstance(tree, dict):
        if tree.keys() == {"pooled"}:
            return pool[tree["pooled"]]
        return {key: _unpooled(value, pool) for key, value in tree.items()}
    return [_unpooled(value, pool) for value in tree] if isinstance(tree, list) else tree
