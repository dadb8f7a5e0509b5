"""Layouts: batches of the same form cross without a pickle.

Most loaders make the same lists, tuples or dictionaries of tensors over and over. A *layout*
describes such a batch: its containers, and each tensor's dtype, shape and strides. After two
batches in a row with the same layout, the worker sends the layout once. From then on it sends
only the layout's number.

>>> worker, main = WorkerLayouts(), MainLayouts()
>>> for number in range(3):
...     plain = described({"x": torch.arange(3) + number})
...     reference = worker.reference(plain.layout)
...     if reference is not None:
...         worker.note_sent(reference)
...         block = memoryview(bytearray(plain.tensors[0].numpy().tobytes()))
...         print(type(reference).__name__, main.builder(reference).build(block, [0]))
New {'x': tensor([1, 2, 3])}
int {'x': tensor([2, 3, 4])}
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy import ndarray
from torch import from_numpy

__all__ = [
    "Builder",
    "Layout",
    "MainLayouts",
    "New",
    "Plain",
    "Reference",
    "WorkerLayouts",
    "described",
    "is_dense",
    "missing",
]

NUMBERED = 64
"""Layouts of one worker that get a number; batches of further layouts are pickled."""

TENSORS = 256
"""Tensors of a described batch at most, since both sides keep layouts."""

DEPTH = 8
"""Levels of containers in a described batch at most."""

DIMENSIONS = 32
"""Dimensions that every version of NumPy supports."""

_LEAF = 0

Tree = Any
"""The containers of a batch. A tensor is ``_LEAF``; a container is its type, the trees of its
elements, and a dictionary's keys."""

Leaf = tuple[torch.dtype, torch.Size, tuple[int, ...]]
"""A tensor's dtype, shape and strides."""


class Layout(NamedTuple):
    """A batch without the contents of its tensors."""

    tree: Tree
    leaves: tuple[Leaf, ...]


class Plain(NamedTuple):
    """A batch of only tensors in lists, tuples and dictionaries."""

    layout: Layout
    tensors: list[torch.Tensor]
    addresses: list[int]
    """The address of each tensor's contents."""


class New(NamedTuple):
    """A layout, at its first use."""

    number: int
    layout: Layout


Reference = New | int
"""A layout in a message: whole at its first use, afterwards its number."""


class WorkerLayouts:
    """The layouts that a worker has sent to the main process."""

    def __init__(self) -> None:
        self._numbers: dict[Layout, int] = {}
        self._last: Layout | None = None

    def reference(self, layout: Layout) -> Reference | None:
        """Return a reference to a layout; ``None``: its batch must be pickled.

        Before the next call, the caller sends the reference or gives the batch up.
        """
        number = self._numbers.get(layout)
        if number is not None:
            return number
        again = layout == self._last
        self._last = layout
        return New(len(self._numbers), layout) if again and len(self._numbers) < NUMBERED else None

    def note_sent(self, reference: Reference) -> None:
        """Note that a reference was sent: only now the main process knows its number."""
        if isinstance(reference, New):
            self._numbers[reference.layout] = reference.number


class Builder:
    """Makes batches of one layout."""

    def __init__(self, layout: Layout) -> None:
        self._tree = layout.tree
        self._leaves = [(*_in_numpy(leaf), leaf) for leaf in layout.leaves]

    def build(self, block: memoryview, starts: Sequence[int]) -> Any:
        """Return the batch whose tensors begin at ``starts`` in ``block``, as views of it."""
        tensors = [
            # Through an array, which takes half the time. The array keeps the owner of the block's
            # memory alive, as a direct view would: see ``Leases.lend``.
            from_numpy(ndarray(leaf[1], dtype, block, start, steps))
            if dtype is not None
            else _tensor_at(block, start, *leaf)
            for start, (dtype, steps, leaf) in zip(starts, self._leaves, strict=True)
        ]
        return _grown(self._tree, iter(tensors))


class MainLayouts:
    """The layouts that one worker has sent, in the main process."""

    def __init__(self) -> None:
        self._builders: dict[int, Builder] = {}

    def builder(self, reference: Reference) -> Builder:
        """Return the builder of a layout; keep it if the layout is new."""
        if isinstance(reference, New):
            self._builders[reference.number] = Builder(reference.layout)
            return self._builders[reference.number]
        return self._builders[reference]


def described(batch: Any) -> Plain | None:
    """Return a batch's layout and tensors; ``None`` if the batch holds anything else."""
    tensors: list[torch.Tensor] = []
    leaves: list[Leaf] = []
    tree = _described(batch, tensors, leaves, 0)
    if tree is None:
        return None
    addresses = [tensor.data_ptr() for tensor in tensors]
    if not all(addresses) or _overlap(addresses, tensors):
        return None  # a tensor has no memory, or shared memory must stay shared
    return Plain(Layout(tree, tuple(leaves)), tensors, addresses)


def _overlap(addresses: list[int], tensors: list[torch.Tensor]) -> bool:
    end = 0
    for address, size in sorted(zip(addresses, [t.nbytes for t in tensors], strict=True)):
        if address < end:
            return True
        end = address + size
    return False


def _described(part: Any, tensors: list[torch.Tensor], leaves: list[Leaf], depth: int) -> Tree:
    kind = type(part)
    if kind is torch.Tensor:
        if part.requires_grad or not (is_dense(part) and part.is_contiguous() and part.numel()):
            return None
        if missing(part, part.nbytes):
            return None
        tensors.append(part)
        leaves.append((part.dtype, part.shape, part.stride()))
        return _LEAF if len(tensors) <= TENSORS else None
    # An empty container could be one object at two places, which a layout does not show.
    if kind not in _CONTAINERS or not 0 < len(part) <= TENSORS or depth == DEPTH:
        return None
    if kind is dict and not all(type(key) is str for key in part):
        return None
    trees = []
    for inner in part.values() if kind is dict else part:
        tree = _described(inner, tensors, leaves, depth + 1)
        if tree is None:
            return None
        trees.append(tree)
    return (kind, tuple(trees), tuple(part)) if kind is dict else (kind, tuple(trees))


_CONTAINERS = (list, tuple, dict)


def _grown(tree: Tree, tensors: Iterator[torch.Tensor]) -> Any:
    if tree == _LEAF:
        return next(tensors)
    kind, trees, *keys = tree
    parts = [_grown(inner, tensors) for inner in trees]
    return dict(zip(keys[0], parts, strict=True)) if keys else kind(parts)


def is_dense(tensor: torch.Tensor) -> bool:
    """Tell whether bytes, shape and strides describe the tensor completely."""
    return (
        tensor.is_cpu
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not tensor.is_nested
        and not tensor.is_conj()
        and not tensor.is_neg()
    )


def missing(tensor: torch.Tensor, length: int) -> int:
    """Return how many of a dense tensor's ``length`` bytes lie beyond its storage.

    A storage that was resized, as sharded training frees parameters, is smaller than its tensor.
    """
    begin = tensor.storage_offset() * tensor.element_size()
    return max(0, int(begin + length - tensor.untyped_storage().nbytes()))


_IN_NUMPY: dict[torch.dtype, np.dtype[Any]] = {
    from_numpy(np.zeros(1, code)).dtype: np.dtype(code) for code in "?BbHhIiLlefdFD"
}
"""NumPy's dtype for each of torch's that has one."""


def _in_numpy(leaf: Leaf) -> tuple[np.dtype[Any] | None, tuple[int, ...]]:
    """Return NumPy's dtype and strides for a tensor; ``None``: NumPy has no such tensor."""
    dtype, shape, strides = leaf
    known = _IN_NUMPY.get(dtype)
    # If a dimension has one element, torch's stride in it may be any number.
    if known is None or len(shape) > DIMENSIONS or max(strides, default=0) > shape.numel():
        return None, ()
    return known, tuple([step * known.itemsize for step in strides])


def _tensor_at(
    block: memoryview, start: int, dtype: torch.dtype, shape: torch.Size, strides: tuple[int, ...]
) -> torch.Tensor:
    """Return a contiguous tensor whose storage is only its own part of ``block``."""
    made = torch.frombuffer(block, dtype=dtype, offset=start, count=shape.numel())
    return made.as_strided(shape, strides)
