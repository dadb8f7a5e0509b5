"""The contenders that take torch's datasets and arguments: how each is built."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import torch
from torch.utils.data import DataLoader, default_collate

from midepoch_benchmarks.measuring.datasets import BATCH_SIZE

__all__ = [
    "BUILT_IN",
    "Contender",
    "NotInstalledError",
    "NotMeasuredError",
    "NotOfferedError",
    "Reference",
    "Setting",
    "Torch",
    "Torchdata",
]


class NotOfferedError(Exception):
    """A contender does not offer this; the message says why."""


class NotMeasuredError(Exception):
    """This machine does not allow the measurement; the message says why."""


class NotInstalledError(Exception):
    """A contender is not installed; the message names the missing package."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """The arguments of a loader."""

    dataset: Any
    """A dataset of ``datasets.py``."""
    workers: int = 0
    """The number of workers."""
    shuffle: bool = False
    """Whether the order is shuffled."""
    threads: bool = False
    """Whether workers are threads."""
    interval: int | None = 1
    """The steps between two snapshots; None: no snapshots."""
    lanes: int | None = None
    """The number of lanes; None: the number of workers."""
    batch_size: int = BATCH_SIZE
    """The samples of a batch."""
    as_it_is: bool = False
    """Whether a batch is the plain list of samples."""


class Contender(Protocol):
    """Builds loaders of one kind."""

    name: str

    def open(self, setting: Setting) -> Any:
        """Return a loader: iterable, and Stateful if it has a state.

        Raises:
            NotOfferedError: the contender does not offer this loader.
            NotInstalledError: the contender is not installed.
        """


def same(samples: list[Any]) -> list[Any]:
    """Return a batch as it is."""
    return samples


def _arguments(setting: Setting) -> dict[str, Any]:
    if setting.threads:
        raise NotOfferedError("its workers are processes")
    if setting.lanes is not None:
        raise NotOfferedError("it has no lanes apart from its workers")
    return {
        "batch_size": setting.batch_size,
        "num_workers": setting.workers,
        "collate_fn": same if setting.as_it_is else None,
        **({"shuffle": True} if setting.shuffle else {}),
    }


class Torch:
    """PyTorch's loader with its defaults."""

    name = "torch"

    def open(self, setting: Setting) -> Any:
        """Return a ``torch.utils.data.DataLoader``."""
        return DataLoader(setting.dataset, **_arguments(setting))


def by_file_system(number: int) -> None:
    """Have a worker share memory by names instead of descriptors."""
    # torch leaves this function without types.
    torch.multiprocessing.set_sharing_strategy("file_system")  # type: ignore[no-untyped-call]


class TorchFileSystem:
    """PyTorch's loader with the sharing strategy ``file_system``."""

    name = "torch-file-system"

    def open(self, setting: Setting) -> Any:
        """Return a loader whose workers share by names."""
        return DataLoader(setting.dataset, **_arguments(setting), worker_init_fn=by_file_system)


def as_arrays(samples: list[Any]) -> Any:
    """Collate into NumPy arrays, which are pickled through the pipe."""
    if isinstance(samples[0], torch.Tensor):
        return np.stack([sample.numpy() for sample in samples])
    return [as_arrays(list(part)) for part in zip(*samples, strict=True)]


def _tensors(batch: Any) -> Any:
    if isinstance(batch, list):
        return [_tensors(part) for part in batch]
    return torch.from_numpy(batch)


class Tuned:
    """An iterable of the tensors that a loader of arrays delivers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[Any]:
        return map(_tensors, self.loader)


class TorchTuned:
    """PyTorch's loader tuned by hand: NumPy arrays go through the pipe."""

    name = "torch-tuned"

    def open(self, setting: Setting) -> Any:
        """Return such a loader."""
        arguments = _arguments(setting)
        if setting.as_it_is:
            raise NotOfferedError("it is tuned for batches that are collated")
        return Tuned(DataLoader(setting.dataset, **{**arguments, "collate_fn": as_arrays}))


NEVER = 1 << 40
"""A snapshot interval that no run reaches."""


class Torchdata:
    """torchdata's loader."""

    name = "torchdata"

    def open(self, setting: Setting) -> Any:
        """Return a ``torchdata.stateful_dataloader.StatefulDataLoader``."""
        module = _installed("torchdata.stateful_dataloader")
        interval = NEVER if setting.interval is None else setting.interval
        return module.StatefulDataLoader(
            setting.dataset, **_arguments(setting), snapshot_every_n_steps=interval
        )


class Reference:
    """The reference loader; its shuffled order is computed index by index, not stored."""

    name = "reference"
    computes_order = True

    def open(self, setting: Setting) -> Any:
        """Return a ``midepoch.StatefulDataLoader``."""
        module = _installed("midepoch")
        plain = dataclasses.replace(setting, threads=False, lanes=None)
        return module.StatefulDataLoader(
            setting.dataset,
            **_arguments(plain),
            worker_type="thread" if setting.threads else "process",
            lanes=setting.lanes,
            snapshot_every_n_steps=setting.interval,
        )

    def ranked(self, setting: Setting, **ranks: Any) -> Any:
        """Return the loader of one of several ranks, whose batch size may be that of all."""
        arguments = _arguments(dataclasses.replace(setting, lanes=None))
        if "global_batch_size" in ranks:
            del arguments["batch_size"]
        module = _installed("midepoch")
        return module.StatefulDataLoader(
            setting.dataset, **arguments, seed=0, lanes=setting.lanes, **ranks
        )

    def merge(self, parts: list[Any]) -> Any:
        """Return the state that those of all ranks make."""
        return _installed("midepoch").merge_states(parts)


class Memcpy:
    """No loader: a copy of each batch's bytes from and into memory that is in use already."""

    name = "memcpy"

    def open(self, setting: Setting) -> Iterator[torch.Tensor]:
        """Return an iterator that copies."""
        source = default_collate([setting.dataset[i] for i in range(setting.batch_size)])
        parts = [source] if isinstance(source, torch.Tensor) else list(source)
        filled = [part.clone() for part in parts]
        while True:
            for part, into in zip(parts, filled, strict=True):
                into.copy_(part)
            yield filled[0]


def _installed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise NotInstalledError(f"{missing.name} is not installed") from missing


BUILT_IN: dict[str, Callable[[], Contender]] = {
    "reference": Reference,
    "torch": Torch,
    "torchdata": Torchdata,
    "torch-file-system": TorchFileSystem,
    "torch-tuned": TorchTuned,
    "memcpy": Memcpy,
}
"""Those that are built with torch's own arguments, by their names."""
