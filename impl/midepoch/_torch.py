"""The only file that touches private names of torch."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

import torch
from torch._utils import ExceptionWrapper
from torch.utils.data import DataLoader, default_collate, get_worker_info
from torch.utils.data import dataloader as loader_module
from torch.utils.data._utils import pin_memory as pinning
from torch.utils.data._utils import worker as worker_module
from torch.utils.data._utils.collate import collate, collate_tensor_fn, default_collate_fn_map
from torch.utils.data._utils.worker import WorkerInfo

__all__ = [
    "ExceptionWrapper",
    "WorkerInfo",
    "asked_length",
    "is_endless",
    "lane_info",
    "make_info",
    "pin",
    "rebuild",
    "run_lanes_in_this_thread",
    "stacking",
    "unshared",
    "wrap",
]


class _Thread(threading.local):
    """The result of ``get_worker_info()`` in this thread, if it runs lanes."""

    lanes = False
    info: WorkerInfo | None = None


_thread = _Thread()
_installing = threading.Lock()

# A process that a lane's code forks runs no lanes.
os.register_at_fork(after_in_child=lambda: _thread.__dict__.clear())

_LOOKUP = """
def get_worker_info():
    here = _midepoch_thread
    return here.info if here.lanes else _worker_info
"""


def run_lanes_in_this_thread() -> None:
    """Make ``get_worker_info()`` report for this thread alone, from now on.

    torch keeps one worker's information for the whole process. All modules import its function by
    name, so only the function's code can be replaced for all of them. In every thread that did not
    call this, the function returns the same as before.
    """
    with _installing:
        if not hasattr(worker_module, "_midepoch_thread"):
            made: dict[str, Any] = {}
            exec(compile(_LOOKUP, __file__, "exec"), made)
            worker_module._midepoch_thread = _thread  # type: ignore[attr-defined]  # for the lookup
            worker_module.get_worker_info.__code__ = made["get_worker_info"].__code__
    _thread.lanes = True


def make_info(lane: int, lanes: int, seed: int, dataset: object) -> WorkerInfo:
    """Return what ``torch.utils.data.get_worker_info()`` reports inside a lane."""
    make = cast("Callable[..., WorkerInfo]", WorkerInfo)
    kind = {}
    if _thread.lanes and "worker_method" in getattr(WorkerInfo, "__dataclass_fields__", ()):
        kind = {"worker_method": "thread"}
    return make(id=lane, num_workers=lanes, seed=seed, dataset=dataset, **kind)


class lane_info:  # noqa: N801 -- used as a function is
    """Make ``get_worker_info()`` report ``info``; with ``None``, change nothing."""

    __slots__ = ("_before", "_info")

    def __init__(self, info: WorkerInfo | None) -> None:
        self._info = info

    def __enter__(self) -> None:
        if self._info is not None:
            self._before = _put_info(self._info)

    def __exit__(self, *_: object) -> None:
        if self._info is not None:
            _put_info(self._before)


def _put_info(info: WorkerInfo | None) -> WorkerInfo | None:
    if _thread.lanes:
        before, _thread.info = _thread.info, info
    else:
        before, worker_module._worker_info = worker_module._worker_info, info
    return before


def unshared(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Keep torch's own collate function from putting batches into shared memory.

    With worker information, torch does so for its own transport between processes, which takes a
    file descriptor and new pages for each tensor.
    """
    if function not in (default_collate, collate_tensor_fn):
        return function

    def collate_here(samples: Any) -> Any:
        if get_worker_info() is None:
            return function(samples)
        before = _put_info(None)
        try:
            return function(samples)
        finally:
            _put_info(before)

    return collate_here


def stacking(stack: Callable[[Any], torch.Tensor | None]) -> Callable[[Any], Any]:
    """Return torch's own collate function with another way to stack tensors.

    ``stack`` gets the samples' tensors; if it returns ``None``, torch stacks them.
    """
    plain = unshared(collate_tensor_fn)

    def collate_tensors(samples: Any, *, collate_fn_map: Any = None) -> Any:
        stacked = stack(samples)
        return plain(samples) if stacked is None else stacked

    def collate_here(samples: Any) -> Any:
        functions: Any = default_collate_fn_map
        if functions.get(torch.Tensor) is not collate_tensor_fn:  # the user has replaced it
            return unshared(default_collate)(samples)
        return collate(samples, collate_fn_map={**functions, torch.Tensor: collate_tensors})

    return collate_here


def wrap(error: BaseException, where: str) -> ExceptionWrapper:
    """Return ``error`` with its traceback as text, so that it can be pickled."""
    make = cast("Callable[..., ExceptionWrapper]", ExceptionWrapper)
    wrapper = make((type(error), error, error.__traceback__), where)
    members = getattr(error, "exceptions", None)
    if isinstance(members, tuple):
        # A member that cannot be rebuilt: the group arrives without its members.
        with suppress(Exception):
            data = pickle.dumps(members)
            pickle.loads(data)
            vars(wrapper)["members"] = data
    return wrapper


def rebuild(wrapper: ExceptionWrapper) -> BaseException:
    """Return the wrapped error, in its own type if that can be rebuilt.

    Its message is the worker's traceback; an exception group keeps its members. If the type does
    not accept a single message, the error is a ``RuntimeError`` that names the type.
    """
    text = f"Caught {wrapper.exc_type.__name__} {wrapper.where}.\nOriginal {wrapper.exc_msg}"
    try:
        members = vars(wrapper).get("members")
        if members is not None:
            return cast("BaseException", wrapper.exc_type(text, pickle.loads(members)))
        cast("Callable[[], None]", wrapper.reraise)()
    except BaseException as error:
        # An error of another type comes from the type's constructor, and would hide the cause.
        if type(error) in (wrapper.exc_type, RuntimeError):
            return error.with_traceback(None)
    return RuntimeError(text)


def asked_length(loader: DataLoader[Any]) -> int | None:
    """Return the ``len()`` of an iterable dataset at the last call of ``len(loader)``."""
    return cast("int | None", getattr(loader, "_IterableDataset_len_called", None))


def is_endless(sampler: object) -> bool:
    """Tell whether ``sampler`` is the one that torch's loader makes for an iterable dataset."""
    return isinstance(sampler, loader_module._InfiniteConstantSampler)


def pin(batch: Any, device: str) -> Any:
    """Copy all tensors of a batch into pinned memory, as torch's loader does."""
    function = cast("Callable[[Any, str | None], Any]", pinning.pin_memory)
    return function(batch, device)
