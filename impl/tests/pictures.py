"""Plain data that must be the same for a batch before and after it crosses."""

from __future__ import annotations

import array
import ctypes
import dataclasses
import enum
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from crossing_values import Measured, OutOfBand, Slotted, Table, Tagged

__all__ = ["contents", "picture", "storage_sizes"]


def picture(value: Any) -> Any:
    """Return plain data, equal for two values that no program could tell apart.

    Of storages it says how tensors overlap; for their sizes see ``storage_sizes``. Whether an
    array can be written is not in it.
    """
    return _Picture(form=True).of(value)


def contents(value: Any) -> Any:
    """Return the same without strides and without shared memory."""
    return _Picture(form=False).of(value)


class _Picture:
    def __init__(self, *, form: bool) -> None:
        self.form = form
        self._objects: dict[int, int] = {}
        self._parts_of_memory: list[tuple[int, int]] = []
        self._alive: list[Any] = []
        self.sizes: list[int] = []

    def of(self, value: Any) -> Any:
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if value is None or isinstance(value, bool | int | str | bytes | type | enum.Enum):
            return name, repr(value) if len(repr(value)) < 200 else value
        if isinstance(value, float | complex | np.generic) and not isinstance(value, np.void):
            return name, repr(value), str(getattr(value, "dtype", ""))
        if id(value) in self._objects and not isinstance(value, tuple | frozenset):
            return "again", self._objects[id(value)] if self.form else None
        self._objects[id(value)] = len(self._objects)
        self._alive.append(value)
        return name, *self._parts(value)

    def _parts(self, value: Any) -> Iterator[Any]:
        if isinstance(value, torch.Tensor):
            yield from self._tensor(value)
        elif isinstance(value, torch.UntypedStorage):
            yield ctypes.string_at(value.data_ptr(), value.nbytes())
        elif isinstance(value, np.ndarray):
            yield from self._array(value)
        elif isinstance(value, dict):
            yield [(self.of(key), self.of(item)) for key, item in value.items()]
            yield getattr(value, "default_factory", None)
        elif isinstance(value, set | frozenset):
            yield sorted(map(repr, map(self.of, value)))
        elif isinstance(value, list | tuple | deque):
            yield [self.of(item) for item in value]
            yield getattr(value, "maxlen", None)
        elif isinstance(value, bytearray | array.array | memoryview):
            yield bytes(value)
        elif isinstance(value, OutOfBand):
            yield bytes(memoryview(value.buffer))
        elif dataclasses.is_dataclass(value):
            yield [self.of(getattr(value, field.name)) for field in dataclasses.fields(value)]
        elif isinstance(value, Slotted):
            yield self.of(value.image)
        elif isinstance(value, np.void):
            yield str(value.dtype), str(value.tolist())
        else:
            yield repr(value)
        if type(value).__module__ == __name__ and isinstance(value, Table | Tagged | Measured):
            yield self.of({key: vars(value)[key] for key in sorted(vars(value))})

    def _tensor(self, tensor: torch.Tensor) -> Iterator[Any]:
        yield str(tensor.dtype), str(tensor.layout), str(tensor.device), tensor.requires_grad
        if tensor.is_nested:
            yield [self.of(part.detach()) for part in tensor.unbind()]
            return
        yield tuple(tensor.shape)
        if tensor.layout is torch.sparse_coo:
            yield self.of(tensor.detach()._indices()), self.of(tensor.detach()._values())
            yield tensor.is_coalesced()
            return
        if tensor.layout is torch._mkldnn:  # type: ignore[attr-defined]  # has no public name
            yield self.of(tensor.to_dense())
            return
        if tensor.layout is not torch.strided:
            rows = tensor.layout in (torch.sparse_csr, torch.sparse_bsr)
            plain = tensor.detach()
            yield self.of(plain.crow_indices() if rows else plain.ccol_indices())
            yield self.of(plain.col_indices() if rows else plain.row_indices())
            yield self.of(plain.values())
            return
        if self.form:
            yield _strides(tensor.shape, tensor.stride())
        if tensor.is_meta:
            return
        if tensor.is_quantized:
            yield from self._quantized(tensor)
            return
        yield _bits(tensor)
        if self.form and tensor.numel():
            yield self._sharing(tensor)

    def _quantized(self, tensor: torch.Tensor) -> Iterator[Any]:
        yield self.of(tensor.int_repr())
        try:
            scheme = tensor.qscheme()
        except RuntimeError:  # PyTorch's own way between processes loses it
            return
        per_tensor = scheme is torch.per_tensor_affine
        yield tensor.q_scale() if per_tensor else self.of(tensor.q_per_channel_scales())
        yield tensor.q_zero_point() if per_tensor else self.of(tensor.q_per_channel_zero_points())

    def _sharing(self, tensor: torch.Tensor) -> Any:
        """Say with which earlier tensors this overlaps, and how far from each it begins."""
        storage = tensor.untyped_storage()
        self.sizes.append(storage.nbytes())
        start = tensor.data_ptr()
        last = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
        end = start + (last + 1) * tensor.element_size()
        told = [
            (number, start - other)
            for number, (other, stop) in enumerate(self._parts_of_memory)
            if other < end and start < stop
        ]
        self._parts_of_memory.append((start, end))
        return told

    def _array(self, values: np.ndarray[Any, Any]) -> Iterator[Any]:
        if values.dtype.byteorder == ">":  # which NumPy keeps for contiguous arrays only
            values = values.astype(values.dtype.newbyteorder("="), order="K")
        yield repr(values.dtype), values.shape
        if self.form:
            yield _strides(values.shape, values.strides)
        if isinstance(values, np.ma.MaskedArray):
            yield np.ma.getmaskarray(values).tolist(), repr(values.fill_value)
            values = values.data
        if values.dtype.hasobject or values.dtype.kind == "T":
            yield self.of(values.tolist())
        elif values.dtype.char in "gG" or values.dtype.names:  # have bits of no meaning
            yield str(values.tolist())
        else:
            yield np.ascontiguousarray(values).tobytes()


def _strides(shape: Any, strides: Any) -> Any:
    """Return the strides that matter: along one element, and of nothing, there are none."""
    if 0 in shape:
        return None
    return tuple(step if size > 1 else None for size, step in zip(shape, strides, strict=True))


def _bits(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().as_subclass(torch.Tensor).resolve_conj().resolve_neg()
    if not plain.numel():
        return b""
    return plain.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def storage_sizes(value: Any) -> list[int]:
    """Return the sizes in bytes of the storages of all dense tensors that hold anything."""
    made = _Picture(form=True)
    made.of(value)
    return made.sizes
