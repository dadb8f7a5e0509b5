"""The pinning stage: batches are copied into pinned memory as their replies are received.

The stage stands between the epoch iterator and the workers, so that neither knows of it. It has
no thread of its own, because ``next_reply`` can pin: an error then has its batch's place in the
order, and no thread can be left behind. Each batch gets new memory from torch's pinned
allocator, since only that one knows when a copy to the device has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch.utils.data import DataLoader

from midepoch import _torch
from midepoch.errors import ArgumentError, show, warn_user
from midepoch.lane.messages import Batch, Failure, Open, Reply, Snapshot, Task
from midepoch.workers.protocol import Workers

__all__ = ["PinDevice", "PinningWorkers", "check_device", "pinner"]

PinDevice = str | int | torch.device
"""An accelerator: "" for the current one, its index, or a name such as "cuda:1"."""


class PinningWorkers:
    """Lets other workers run the tasks, and pins the batches in their replies."""

    def __init__(self, workers: Workers, pin: Callable[[Any], Any]) -> None:
        self._workers = workers
        self._pin = pin
        self.count = workers.count
        self.capacity = workers.capacity
        self.ahead = workers.ahead

    def open(self, message: Open) -> dict[int, Snapshot | None]:
        """See ``Workers.open``."""
        return self._workers.open(message)

    def renew(self, dataset: Any) -> bool:
        """See ``Workers.renew``."""
        return self._workers.renew(dataset)

    def submit(self, task: Task) -> None:
        """See ``Workers.submit``."""
        self._workers.submit(task)

    def next_reply(self, awaited: int) -> Reply:
        """See ``Workers.next_reply``; an error in pinning is the outcome of its task."""
        reply = self._workers.next_reply(awaited)
        if not isinstance(reply.outcome, Batch):
            return reply
        return replace(reply, outcome=self._pinned(reply.outcome))

    def _pinned(self, batch: Batch) -> Batch | Failure:
        try:
            return Batch(self._pin(batch.take()), batch.samples, batch.last)
        except Exception as error:
            return Failure(error)

    def members(self) -> list[Any]:
        """See ``Workers.members``."""
        return self._workers.members()

    def close(self) -> None:
        """See ``Workers.close``."""
        self._workers.close()


def check_device(wanted: PinDevice) -> None:
    """Check ``pin_memory_device`` as far as possible without an accelerator.

    Raises:
        ArgumentError: it is neither a device nor its name nor its index.

    >>> check_device(-1)
    Traceback (most recent call last):
    midepoch.errors.ArgumentError: pin_memory_device should be a device, its name or its index ...
    """
    number = type(wanted) is int and wanted >= 0
    if not (number or isinstance(wanted, (str, torch.device))):
        raise ArgumentError(
            "pin_memory_device should be a device, its name or its index (from 0), got "
            f"{show(wanted)}"
        )


def pinner(loader: DataLoader[Any]) -> Callable[[Any], Any] | None:
    """Return the function that pins a batch, or ``None``, with torch's own warnings.

    Raises:
        ArgumentError: ``pin_memory_device`` is the index of a missing device.
    """
    if not loader.pin_memory:
        return None
    there = torch.accelerator.is_available()
    accelerator = torch.accelerator.current_accelerator() if there else None
    if accelerator is None:
        warn_user(
            "'pin_memory' argument is set as true but no accelerator is found, "
            "then device pinned memory won't be used."
        )
        return None
    if accelerator.type == "mps":
        warn_user(
            "'pin_memory' argument is set as true but not supported on MPS now, "
            "device pinned memory won't be used."
        )
        return None
    index = _device_index(loader.pin_memory_device, accelerator.type)

    def pin(batch: Any) -> Any:
        with _current_device(index):
            return _torch.pin(batch, accelerator.type)

    return pin


def _device_index(wanted: PinDevice, accelerator: str) -> int | None:
    """Return the index of the device to pin for; ``None``: the current one."""
    if isinstance(wanted, int):
        index: int | None = wanted
    elif not wanted:
        return None
    else:
        kind, _, number = str(wanted).partition(":")
        if kind != accelerator:
            warn_user(
                f"pin_memory_device='{wanted}' is ignored: the accelerator here is {accelerator}"
            )
            return None
        index = int(number) if number.isdecimal() else None
    count = torch.accelerator.device_count()
    if index is not None and index >= count:
        raise ArgumentError(
            f"pin_memory_device is {show(wanted)}, but there are {count} {accelerator} devices "
            "here, counted from 0"
        )
    return index


@contextmanager
def _current_device(index: int | None) -> Iterator[None]:
    """Make the accelerator ``index`` the current one; with ``None``, change nothing."""
    if index is None:
        yield
        return
    current = _index_function("current_device_")
    choose = _index_function("set_device_")
    before = current()
    choose(index)
    try:
        yield
    finally:
        choose(before)


def _index_function(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(torch.accelerator, f"{name}index", None)
    # In torch 2.6 the function has the other name.
    return getattr(torch.accelerator, f"{name}idx") if function is None else function
