"""Ways to hold a part of a batch, and to read what is held."""

from __future__ import annotations

import ctypes
import random
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from crossing_values import OutOfBand

__all__ = [
    "ARRAY_VIEWS",
    "RAW_VIEWS",
    "TENSOR_VIEWS",
    "Held",
    "read_array",
    "read_tensor",
    "some_view",
]

Read = Callable[[], bytes]


def read_array(view: Any) -> Read:
    return lambda: np.ascontiguousarray(view).tobytes()


def read_tensor(view: torch.Tensor) -> Read:
    return lambda: view.detach().contiguous().numpy().tobytes()


def _memory(view: Any) -> Read:
    return lambda: memoryview(view).tobytes()


def _view(array: Any) -> memoryview:
    return memoryview(array)


def _capsule(tensor: torch.Tensor) -> Read:
    """Hold what hands memory over, and take it over only when it is read."""
    capsule = [torch.utils.dlpack.to_dlpack(tensor)]  # type: ignore[attr-defined]  # has no types

    def read() -> bytes:
        if not isinstance(capsule[0], torch.Tensor):
            capsule[0] = torch.utils.dlpack.from_dlpack(capsule[0])
        return read_tensor(capsule[0])()

    return read


def _storage(tensor: torch.Tensor) -> Read:
    storage = tensor.untyped_storage()
    return lambda: ctypes.string_at(storage.data_ptr(), storage.nbytes())


def _typed_storage(tensor: torch.Tensor) -> Read:
    storage = tensor.storage()  # type: ignore[no-untyped-call]  # torch's own
    return lambda: ctypes.string_at(storage.data_ptr(), storage.nbytes())


def _of_storage(tensor: torch.Tensor) -> Read:
    storage: Any = tensor.untyped_storage()
    return read_tensor(torch.empty(0, dtype=torch.uint8).set_(storage))


def _gradient(tensor: torch.Tensor) -> Read:
    """Hold only the graph that saved the tensor."""
    weight = torch.ones(len(tensor), dtype=torch.float64, requires_grad=True)
    loss = (weight * tensor.to(torch.float64).detach()).sum()

    def read() -> bytes:
        (gradient,) = torch.autograd.grad(loss, weight, retain_graph=True)
        return gradient.numpy().tobytes()

    return read


def _saved(tensor: torch.Tensor) -> Read:
    """The same of a graph that saved the batch itself and no copy in another dtype."""
    floats = tensor.view(torch.float32)
    loss = torch.ones(len(floats), requires_grad=True).mul(floats)

    def read() -> bytes:
        saved: Any = loss.grad_fn
        return read_tensor(saved._saved_other)()

    return read


class _Interface:
    """Shows an array's memory as other libraries do: an address, and who keeps it alive."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.keeps = array
        self.__array_interface__ = array.__array_interface__


TENSOR_VIEWS: dict[str, Callable[[torch.Tensor], Read]] = {
    "itself": read_tensor,
    "slice": lambda t: read_tensor(t[1:]),
    "steps": lambda t: read_tensor(t[::2]),
    "shape": lambda t: read_tensor(t.reshape(1, -1).t()),
    "expanded": lambda t: read_tensor(t[:3].expand(2, -1)),
    "other dtype": lambda t: read_tensor(t.view(torch.int16)[1:]),
    "detached": lambda t: read_tensor(t.detach()),
    "parts": lambda t: read_tensor(t.tensor_split(3)[-1]),
    "strides": lambda t: read_tensor(t.as_strided((len(t) // 2,), (2,))),
    "array": lambda t: read_array(t.numpy()),
    "array, sliced": lambda t: read_array(t.numpy()[1:][::-1]),
    "array, base": lambda t: read_array(np.asarray(t.numpy()).view(np.uint8)[1:]),
    "array, and back": lambda t: read_tensor(torch.from_numpy(t.numpy()[1:])),
    "memory": lambda t: _memory(t.numpy().data),
    "memory, sliced": lambda t: _memory(_view(t.numpy())[1:]),
    "of memory": lambda t: read_array(np.asarray(_view(t.numpy()))),
    "from a buffer": lambda t: read_tensor(torch.frombuffer(t.numpy(), dtype=torch.int32)),
    "NumPy from a buffer": lambda t: read_array(np.frombuffer(t.numpy(), dtype=np.int16)[1:]),
    "DLPack": lambda t: read_tensor(torch.from_dlpack(t)),  # type: ignore[attr-defined]  # has no types
    "DLPack to NumPy": lambda t: read_array(np.from_dlpack(t)),
    "DLPack, not taken": _capsule,
    "storage": _storage,
    "typed storage": _typed_storage,
    "tensor of the storage": _of_storage,
    "parameter": lambda t: read_tensor(torch.nn.Parameter(t, requires_grad=False)),
    "gradient": _gradient,
    "saved for the gradient": _saved,
}
ARRAY_VIEWS: dict[str, Callable[[np.ndarray[Any, Any]], Read]] = {
    "itself": read_array,
    "slice": lambda a: read_array(a[1:]),
    "steps": lambda a: read_array(a[::2][1:]),
    "shape": lambda a: read_array(a.reshape(1, -1)[:, 1:].T),
    "bytes": lambda a: read_array(np.ascontiguousarray(a).view(np.uint8)),
    "as an array": lambda a: read_array(np.asarray(_view(a))),
    "memory": lambda a: _memory(np.ravel(a)),
    "memory, sliced": lambda a: _memory(_view(a)[1:]),
    "own array of it": lambda a: read_array(np.ndarray(a.shape, a.dtype, a, strides=a.strides)),
    "tensor": lambda a: read_tensor(torch.from_numpy(np.ascontiguousarray(a))),
    "tensor, sliced": lambda a: read_tensor(torch.as_tensor(a)[1:]),
    "strides": lambda a: read_array(
        np.lib.stride_tricks.as_strided(a, (len(a) // 2, *a.shape[1:]))
    ),
    "iterator": lambda a: _iterator(a.flat),
    "base": lambda a: read_array(a if a.base is None or not hasattr(a.base, "shape") else a.base),
    "subclass": lambda a: read_array(a.view(np.recarray)),
    "interface": lambda a: read_array(np.asarray(_Interface(a))),
    "broadcast": lambda a: read_array(np.broadcast_to(a[:2], (2, *a[:2].shape))),
    "masked": lambda a: read_array(np.ma.masked_array(a, mask=False)),
    "DLPack": lambda a: read_tensor(torch.from_dlpack(a)),  # type: ignore[attr-defined]  # has no types
}
RAW_VIEWS: dict[str, Callable[[OutOfBand], Read]] = {
    "itself": lambda raw: _memory(raw.buffer),
    "memory": lambda raw: _memory(memoryview(raw.buffer)[1:]),
    "array": lambda raw: read_array(np.frombuffer(raw.buffer, np.uint8)),
    "array, reshaped": lambda raw: read_array(
        np.frombuffer(raw.buffer, np.uint8)[1:].reshape(1, -1)
    ),
    "own array of it": lambda raw: read_array(np.ndarray(raw_size(raw), np.uint8, raw.buffer)),
    "tensor": lambda raw: read_tensor(torch.frombuffer(raw.buffer, dtype=torch.uint8)[1:]),
    "C": lambda raw: _memory((ctypes.c_ubyte * raw_size(raw)).from_buffer(raw.buffer)),
    "reader": lambda raw: _memory(memoryview(raw.buffer).toreadonly().cast("B")[:7]),
}


def raw_size(raw: OutOfBand) -> int:
    return memoryview(raw.buffer).nbytes


def _iterator(flat: Any) -> Read:
    return lambda: np.asarray(flat.copy()).tobytes()


class Held(NamedTuple):
    """A view of a batch, and what was seen there when the batch was delivered."""

    name: str
    read: Read
    was: int

    @classmethod
    def of(cls, name: str, read: Read) -> Held:
        return cls(name, read, zlib.crc32(read()))

    def same(self) -> bool:
        return zlib.crc32(self.read()) == self.was


def some_view(draw: random.Random, batch: dict[str, Any]) -> Held:
    """Take one view of a part of a batch; nothing else of the batch is held by it."""
    key = draw.choice([key for key in batch if key != "index"])
    part = batch[key]
    views: dict[str, Any] = ARRAY_VIEWS
    if isinstance(part, torch.Tensor):
        views = TENSOR_VIEWS
    elif isinstance(part, OutOfBand):
        views = RAW_VIEWS
    size = raw_size(part) if isinstance(part, OutOfBand) else len(part)
    name = draw.choice(list(views)) if size else "itself"  # not all views are of nothing
    return Held.of(f"{key}: {name}", views[name](part))
