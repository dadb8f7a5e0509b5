"""The workload: what a loader under test is asked to deliver (standard library only).

A sample's row is ``[id, *draws]`` and is computed by the workload itself, so that a
sample can draw, count, fail or kill its worker wherever the loader happens to compute it.
Adapters receive a :class:`Workload` and never import this module.
"""

from __future__ import annotations

import dataclasses
import os
import random
import signal
from collections.abc import Callable
from typing import Any

__all__ = ["AMBIENT_DRAWS", "KINDS", "Workload", "WorkloadError"]

KINDS = ("map", "iterable", "stateful_iterable", "files")
"""What the dataset is: random access; a plain stream; a stream with ``state_dict`` and
``load_state_dict``; shards on disk that ``Adapter.prepare`` writes."""

AMBIENT_DRAWS = ("python", "numpy", "torch")


class WorkloadError(RuntimeError):
    """The error that a sample raises on purpose (``Workload.fail_at``)."""


@dataclasses.dataclass
class Workload:
    """One logical data set with its plan; picklable under fork and spawn.

    Attributes:
        kind: one of :data:`KINDS`.
        n: number of samples in an epoch.
        batch_size: samples a batch.
        epochs: epochs that an uninterrupted run iterates.
        shuffle: whether the loader's own shuffling is asked for.
        seed: the seed that the adapter hands to the loader by its documented means.
        tail: ``"keep"`` or ``"drop"`` the incomplete last batch.
        draws: random streams that each sample draws one number from: ``"python"``,
            ``"numpy"``, ``"torch"`` (the global streams) or ``"own"`` (the loader's
            documented source, which the adapter passes to :meth:`row`).
        tree: whether a Stateful dataset adds :meth:`state_tree` to its state.
        fail_at: the sample that raises :class:`WorkloadError`.
        stop_at: the sample that raises ``StopIteration``.
        die_at: the sample that kills the process computing it with SIGKILL.
        log: a file to which fetches and calls are appended.
    """

    kind: str = "map"
    n: int = 13
    batch_size: int = 4
    epochs: int = 2
    shuffle: bool = False
    seed: int = 0
    tail: str = "keep"
    draws: tuple[str, ...] = ()
    tree: bool = False
    fail_at: int | None = None
    stop_at: int | None = None
    die_at: int | None = None
    log: str | None = None

    def row(self, i: int, rng: Callable[[], float] | None = None) -> list[float]:
        """Return the row of sample ``i``: ``[i, *draws]``.

        ``rng`` is a function that draws a float from the loader's own documented source;
        it is needed only where ``"own"`` is among the draws.
        """
        self.note(f"fetch {i}")
        if i == self.fail_at:
            raise WorkloadError(f"sample {i} fails on purpose")
        if i == self.stop_at:
            raise StopIteration
        if i == self.die_at:
            os.kill(os.getpid(), signal.SIGKILL)
        row: list[float] = [i]
        for name in self.draws:
            row.append(self._draw(name, rng))
        return row

    def _draw(self, name: str, rng: Callable[[], float] | None) -> float:
        if name == "python":
            return random.random()
        if name == "numpy":
            import numpy

            return float(numpy.random.random())
        if name == "torch":
            import torch

            return float(torch.rand(()).item())
        if rng is None:
            raise ValueError("this workload draws from the loader's own source: pass rng to row()")
        return float(rng())

    def note(self, what: str) -> None:
        """Append a line to the log, if there is one: ``fetch I``, ``state_dict`` or ``iter``.

        Lines are short and written with ``O_APPEND``, hence whole under any number of workers.
        """
        if self.log is not None:
            with open(self.log, "a", encoding="ascii") as log:
                log.write(f"{os.getpid()} {what}\n")

    def state_tree(self, position: int) -> dict[str, Any]:
        """Return what a Stateful dataset adds to its state at ``position`` (STATE-6)."""
        return {
            "big": 2**70 + position,
            "empty": {"dict": {}, "list": [], "text": ""},
            "flags": [True, 1, False, 0, 1.0],
            "nested": [{"pairs": [[1, "a"], [2, "b"]], "position": position}],
            "none": None,
        }

    def check_tree(self, position: int, tree: object) -> None:
        """Raise ``WorkloadError`` unless ``tree`` equals :meth:`state_tree` in value and type."""
        if _spelled(tree) != _spelled(self.state_tree(position)):
            raise WorkloadError(f"the dataset's state came back changed at {position}: {tree!r}")

    def dataset_state(self, position: int) -> dict[str, Any]:
        """Return a well-behaved Stateful dataset's state at ``position``, and note the call."""
        self.note("state_dict")
        return {"position": position, **({"tree": self.state_tree(position)} if self.tree else {})}

    def dataset_position(self, state: Any) -> int:
        """Return the position in what :meth:`dataset_state` returned.

        Raises:
            WorkloadError: a part is missing or changed, as a careful dataset would say.
        """
        position = state.get("position") if isinstance(state, dict) else None
        if type(position) is not int or ("tree" in state) != self.tree:
            raise WorkloadError(f"the dataset's state came back incomplete: {state!r}")
        if self.tree:
            self.check_tree(position, state["tree"])
        return position


def _spelled(tree: Any) -> str:
    """Return a tree with its types in full; the order of a mapping's keys is no part of it."""
    if isinstance(tree, dict):
        items = sorted(f"{key!r}: {_spelled(value)}" for key, value in tree.items())
        return f"{type(tree).__name__}({', '.join(items)})"
    if isinstance(tree, (list, tuple)):
        return f"{type(tree).__name__}({', '.join(map(_spelled, tree))})"
    return f"{type(tree).__name__} {tree!r}"
