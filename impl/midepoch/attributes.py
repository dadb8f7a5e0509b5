"""What programs written for torch's loader read, set and copy of a loader."""

from __future__ import annotations

import weakref
from dataclasses import fields
from typing import Any, TypeVar

from torch.utils.data import DataLoader

from midepoch.arguments import Options
from midepoch.epoch.iterator import EpochIterator
from midepoch.epoch.pool import WorkerPool
from midepoch.epoch.position import LoaderPosition

__all__ = ["FIXED", "LoaderAttributes"]

T = TypeVar("T")

FIXED = {field.name for field in fields(Options)} - {"snapshot_every_n_steps"}
"""Arguments beyond torch's that stay readable, and cannot be set later."""


class LoaderAttributes(DataLoader[T]):
    """The attributes and copies of a loader; see ``StatefulDataLoader``."""

    _options: Options
    _position: LoaderPosition
    _pool: WorkerPool

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and name in vars(self):
            # In the words of torch's loader for batch_size and others.
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)
        if name == "num_workers" and "_pool" in vars(self):
            self._pool.resized()

    # Beside these properties, vars(loader) holds both: trainers rebuild a loader from there.

    @property
    def lanes(self) -> int:
        """The number of lanes: as given, by default ``num_workers``, or as loaded."""
        return self._position.plan.lanes

    @property
    def seed(self) -> int:
        """The root seed: as given, drawn, or as loaded."""
        return self._position.plan.seed

    # Copies: deepcopy, pickling, spawned processes

    def __getstate__(self) -> dict[str, Any]:
        # A copy stands where this loader stands, and has workers of its own.
        own = {"_current", "_pool"}
        return {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._pool = WorkerPool(self._options)

    # Attributes that programs written for torch's loader use

    _current: weakref.ref[EpochIterator] | None = None

    # torch's own type for these is private; its iterators have what programs use of it.
    @property
    def _iterator(self) -> Any:
        return None if self._current is None else self._current()

    @_iterator.setter
    def _iterator(self, value: Any) -> None:
        if "_pool" not in vars(self):  # torch's constructor sets it to None
            return
        current = self._iterator
        self._pool.between.drop()
        if value is None and current is not None:
            current._shutdown_workers()
