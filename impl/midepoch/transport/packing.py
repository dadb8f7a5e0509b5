"""A batch as a stream of bytes and a block of memory, and back.

Pickle writes the stream. The contents of dense CPU tensors and of NumPy arrays are not in it:
they are copied once, into the block, and the unpacked batch views the block in place.

>>> packed = pack({"x": torch.arange(3)})
>>> block = memoryview(bytearray(packed.size))
>>> packed.write(block)
>>> unpack(packed.form, packed.places, block)
{'x': tensor([0, 1, 2])}
"""

from __future__ import annotations

import copyreg
import ctypes
import io
import pickle
from typing import Any, NamedTuple

import numpy as np
import torch

from midepoch.transport.layouts import Plain, Reference, is_dense, missing

__all__ = ["ALIGNMENT", "Arena", "Packed", "Span", "aligned", "pack", "pack_plain", "unpack"]

Span = tuple[int, int]
"""The beginning and the end of a buffer in the block, in bytes."""

ALIGNMENT = 64
"""The alignment of buffers in bytes; torch's allocator uses the same."""

DTYPES = sorted({v for v in vars(torch).values() if isinstance(v, torch.dtype)}, key=str)

_CODES = {dtype: code for code, dtype in enumerate(DTYPES)}

_CONTENTS = pickle.PickleBuffer(bytearray())
"""Represents any tensor's contents in the stream: a buffer for each would take longer."""


def aligned(size: int) -> int:
    """Return the first offset after ``size`` bytes at which a buffer may begin."""
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


class Arena(NamedTuple):
    """Memory at the block's beginning that already holds tensors of the batch."""

    address: int
    size: int


_NOWHERE = Arena(0, 0)


class Packed:
    """A batch that is described, and whose buffers are still to be copied.

    ``form``: a stream for ``unpack``, or a reference to a layout. ``places``: for a stream, the
    spans of its buffers in the block, in order; for a layout, the starts of its tensors. ``size``:
    the bytes of the block. ``inside``: the bytes that the block already holds.
    """

    __slots__ = ("_copies", "_keep", "form", "inside", "places", "size")

    def __init__(
        self,
        form: bytes | Reference,
        places: list[Span] | list[int],
        copies: list[tuple[int, int, Any]],
        size: int,
        inside: int,
        keep: Any,
    ) -> None:
        self.form = form
        self.places = places
        self.size = size
        self.inside = inside
        self._copies = copies
        self._keep = keep

    def release(self) -> None:
        """Drop the references to the batch, which was written."""
        self._copies = []
        self._keep = None

    def write(self, block: memoryview, address: int | None = None) -> None:
        """Copy the buffers into ``block``, which begins at ``address``."""
        if address is None and self.size:
            address = ctypes.addressof(ctypes.c_ubyte.from_buffer(block))
        for start, end, source in self._copies:
            if isinstance(source, memoryview):
                block[start:end] = source
            else:
                ctypes.memmove(address + start, _address(source), end - start)  # type: ignore[operator]  # known if there are copies


def pack(batch: Any, arena: Arena | None = None) -> Packed:
    """Pickle ``batch``; errors of its own pickling methods are raised.

    Tensors in ``arena`` are in the block already.
    """
    whole: set[int] = set()
    while True:
        placing = _Placing(whole, arena or _NOWHERE)
        file = io.BytesIO()
        pickler = pickle.Pickler(file, protocol=5, buffer_callback=placing.add_buffer)
        pickler.dispatch_table = {
            **copyreg.dispatch_table,
            torch.Tensor: placing.add_tensor,
            np.ndarray: placing.add_array,
            torch.UntypedStorage: _reduce_storage,
        }
        try:
            pickler.dump(batch)
        except _OverlapError as error:
            if error.storage in whole:
                raise
            whole.add(error.storage)
            continue
        # The pickler's memo keeps objects alive that were made while pickling.
        return Packed(
            file.getvalue(),
            placing.spans,
            placing.copies,
            placing.size,
            placing.arena.size,
            pickler,
        )


def pack_plain(plain: Plain, reference: Reference, arena: Arena | None = None) -> Packed:
    """Pack a batch of a known layout, without a pickle."""
    address, inside = arena or _NOWHERE
    size, starts = inside, []
    copies: list[tuple[int, int, Any]] = []
    for source, tensor in zip(plain.addresses, plain.tensors, strict=True):
        start = source - address
        if not 0 <= start < inside:
            start, end = size, size + tensor.nbytes
            copies.append((start, end, source))
            size = aligned(end)
        starts.append(start)
    return Packed(reference, starts, copies, size, inside, plain)


def unpack(stream: bytes | memoryview, spans: list[Span], block: memoryview) -> Any:
    """Return the batch; its tensors and arrays view ``block``, and keep it alive."""
    return pickle.loads(stream, buffers=[block[start:end] for start, end in spans])


class _OverlapError(Exception):
    """Two tensors overlap, so that their storage must be copied as a whole."""

    def __init__(self, storage: int) -> None:
        super().__init__("two tensors share a part of their memory")
        self.storage = storage


class _Placing:
    """The place of each buffer of a batch in the block.

    ``whole``: the addresses of storages that are copied as a whole, because several tensors view
    overlapping parts of them. Of any other storage only the viewed part is copied, because a
    tensor may be a row of a dataset that fills the memory.
    """

    def __init__(self, whole: set[int], arena: Arena) -> None:
        self.spans: list[Span] = []
        self.copies: list[tuple[int, int, Any]] = []
        self.size = arena.size
        self.arena = arena
        self._whole = whole
        self._stored: dict[int, list[tuple[int, int, int]]] = {}
        """By storage: the first and last address of each copied part, and its place."""

    def _reserve(self, length: int) -> int:
        start = self.size
        self.size = aligned(start + length)
        return start

    def add_buffer(self, buffer: pickle.PickleBuffer) -> None:
        """Place a buffer that an object of the batch exports."""
        if buffer is _CONTENTS:
            return  # its span was added with the tensor
        source = buffer.raw()
        start = self._reserve(source.nbytes)
        self.spans.append((start, start + source.nbytes))
        self.copies.append((start, start + source.nbytes, source))

    def add_tensor(self, tensor: torch.Tensor) -> Any:
        """Return how a tensor is pickled; see ``object.__reduce__``."""
        if not is_dense(tensor):
            return tensor.__reduce_ex__(5)  # type: ignore[no-untyped-call]
        if tensor.requires_grad:
            return _with_grad, (tensor.detach(),)
        length = tensor.nbytes if tensor.is_contiguous() else _extent(tensor)
        if length and (short := missing(tensor, length)):
            raise ValueError(
                f"a tensor of shape {tuple(tensor.shape)} in the batch lacks {short} bytes: "
                "its storage was resized; return a tensor whose memory is there"
            )
        start = self._place(tensor, length) if length else self.size
        self.spans.append((start, start + length))
        return _tensor, (_CONTENTS, _CODES[tensor.dtype], tuple(tensor.shape), tensor.stride())

    def add_array(self, array: Any) -> Any:
        """Return how an array is pickled.

        NumPy's own reduction would keep read-only arrays read-only. Arrays that share memory arrive
        apart, as with any pickle.
        """
        dtype, order = array.dtype, "C" if array.flags.c_contiguous else "F"
        if dtype.hasobject or not array.flags.forc or not array.nbytes:
            return array.__reduce__()
        start = self._reserve(array.nbytes)
        self.spans.append((start, start + array.nbytes))
        self.copies.append((start, start + array.nbytes, array))
        code = dtype.str if dtype.isbuiltin == 1 and dtype.kind in "biufc" else dtype
        return _array, (_CONTENTS, code, array.shape, order)

    def _place(self, tensor: torch.Tensor, length: int) -> int:
        """Return the place of the part that ``tensor`` views; reserve it if it is new."""
        storage = tensor.untyped_storage()
        base, begin = storage.data_ptr(), tensor.data_ptr()
        if 0 <= begin - self.arena.address < self.arena.size:
            return begin - self.arena.address
        stored = self._stored.setdefault(base, [])
        for first, last, start in stored:
            if first <= begin and begin + length <= last:
                return start + begin - first
            if begin < last and first < begin + length:
                raise _OverlapError(base)
        source, offset = tensor, 0
        if base in self._whole:
            source = torch.empty(0, dtype=torch.uint8).set_(storage)
            begin, offset, length = base, begin - base, storage.nbytes()
        start = self._reserve(length)
        self.copies.append((start, start + length, source))
        stored.append((begin, begin + length, start))
        return start + offset


def _extent(tensor: torch.Tensor) -> int:
    """Return the bytes from its first to its last element."""
    if not tensor.numel():
        return 0
    steps = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return (steps + 1) * tensor.element_size()


def _tensor(
    block: memoryview, code: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> torch.Tensor:
    dtype = DTYPES[code]
    if not block.nbytes:
        return torch.empty_strided(shape, strides, dtype=dtype)
    return torch.frombuffer(block, dtype=dtype).as_strided(shape, strides)


def _array(block: memoryview, dtype: Any, shape: tuple[int, ...], order: Any) -> Any:
    return np.ndarray(shape, dtype, buffer=block, order=order)


def _reduce_storage(storage: torch.UntypedStorage) -> Any:
    if storage.device.type != "cpu":
        return storage.__reduce_ex__(5)
    return torch.Tensor.untyped_storage, (torch.empty(0, dtype=torch.uint8).set_(storage),)


def _address(source: Any) -> int:
    if type(source) is int:
        return source
    if isinstance(source, torch.Tensor):
        return source.data_ptr()
    address: int = source.__array_interface__["data"][0]
    return address


def _with_grad(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.requires_grad_()
