"""The only file that touches private names of torch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import DataLoader, IterDataPipe, MapDataPipe
from torch.utils.data._utils import pin_memory as pinning
from torch.utils.data._utils import worker as worker_module
from torch.utils.data._utils.worker import WorkerInfo

__all__ = [
    "ExceptionWrapper",
    "WorkerInfo",
    "asked_length",
    "is_datapipe",
    "lane_info",
    "make_info",
    "pinner",
    "rebuild",
    "wrap",
]


def make_info(lane: int, lanes: int, seed: int, dataset: object) -> WorkerInfo:
    """Return what ``torch.utils.data.get_worker_info()`` reports inside a lane."""
    make = cast("Callable[..., WorkerInfo]", WorkerInfo)
    return make(id=lane, num_workers=lanes, seed=seed, dataset=dataset)


@contextmanager
def lane_info(info: WorkerInfo | None) -> Iterator[None]:
    """Let ``get_worker_info()`` report ``info``; with ``None``, leave it as it is."""
    if info is None:
        yield
        return
    before = worker_module._worker_info
    worker_module._worker_info = info
    try:
        yield
    finally:
        worker_module._worker_info = before


def wrap(error: BaseException, where: str) -> ExceptionWrapper:
    """Return ``error`` with its traceback as text, fit to travel between processes."""
    make = cast("Callable[..., ExceptionWrapper]", ExceptionWrapper)
    return make((type(error), error, error.__traceback__), where)


def rebuild(wrapper: ExceptionWrapper) -> BaseException:
    """Return what was wrapped, in its own type where that can be rebuilt."""
    try:
        cast("Callable[[], None]", wrapper.reraise)()
    except BaseException as error:
        return error.with_traceback(None)
    return RuntimeError(wrapper.exc_msg)  # not reached: reraise() raises


def is_datapipe(dataset: object) -> bool:
    """Tell whether ``dataset`` is one of torch's data pipes."""
    return isinstance(dataset, (IterDataPipe, MapDataPipe))


def asked_length(loader: DataLoader[Any]) -> int | None:
    """Return what ``len()`` of an iterable dataset was when ``len(loader)`` was last asked."""
    return cast("int | None", getattr(loader, "_IterableDataset_len_called", None))


def pinner(loader: DataLoader[Any]) -> Callable[[Any], Any] | None:
    """Return the function that pins a batch, or ``None``, with torch's own warnings."""
    if not loader.pin_memory:
        return None
    if loader.pin_memory_device:
        warnings.warn(
            "pin_memory_device is deprecated, the current accelerator will be used as the "
            f"device, ignore pin_memory_device='{loader.pin_memory_device}'.",
            stacklevel=4,
        )
    if not torch.accelerator.is_available():
        warnings.warn(
            "'pin_memory' argument is set as true but no accelerator is found, "
            "then device pinned memory won't be used.",
            stacklevel=4,
        )
        return None
    accelerator = torch.accelerator.current_accelerator()
    device = accelerator.type if accelerator is not None else None
    if device == "mps":
        warnings.warn(
            "'pin_memory' argument is set as true but not supported on MPS now, "
            "device pinned memory won't be used.",
            stacklevel=4,
        )
        return None
    pin = cast("Callable[[Any, str | None], Any]", pinning.pin_memory)
    return lambda batch: pin(batch, device)
