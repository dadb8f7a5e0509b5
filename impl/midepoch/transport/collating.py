"""Collates a batch directly in the shared memory in which it crosses.

torch's own collate function stacks the samples' tensors into new memory, and the worker would
have to copy them into a segment. Instead, the worker takes a segment first, as large as the
batch before, and stacks the tensors into it.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import torch

from midepoch import _torch
from midepoch.transport.layouts import is_dense
from midepoch.transport.packing import Arena, aligned
from midepoch.transport.segments import Pool, Segment

__all__ = ["Collating"]


WORTH = 256 * 1024
"""Bytes of the smallest tensor that is stacked in a segment: copying a smaller one is faster."""


class Collating:
    """Replaces ``default_collate`` in a worker."""

    def __init__(self, pool: Pool) -> None:
        self.collate = _torch.stacking(self._stack)
        self._pool = pool
        self._expected = 0
        self.segment: Segment | None = None
        """The segment in which the batch is collated."""
        self._lease: Any = None
        self._view = memoryview(b"")
        self._used = 0

    def begin(self) -> None:
        """Take a segment for the next batch, if the one before it was large."""
        if self.segment is not None:
            self.drop()
        self.segment = self._pool.take_free(self._expected) if self._expected else None
        if self.segment is not None:
            self._lease = self.segment.mapping.lease()
            self._view = memoryview(self._lease).cast("B")

    def arena(self) -> Arena | None:
        """Return the filled part of the segment, if there is any."""
        if self.segment is None or not self._used:
            return None
        return Arena(self.segment.address, self._used)

    def expect(self, size: int) -> None:
        """Note the size of a batch in bytes, as a guess for the next one."""
        self._expected = size if size >= WORTH else 0

    def give_up(self) -> tuple[Segment, bool]:
        """Return the segment, and whether an object of this process still views its contents.

        The caller has dropped the batch, and all objects that were made to pack it.
        """
        segment: Any = self.segment
        lease = self._lease
        self.segment, self._lease, self._view, self._used = None, None, memoryview(b""), 0
        last = weakref.ref(lease)
        del lease
        return segment, last() is not None

    def drop(self) -> None:
        """Give the segment back to the pool if the batch did not use it."""
        if self.segment is not None:
            segment, seen = self.give_up()
            self._pool.put_back(segment, usable=not seen)

    def _stack(self, samples: Sequence[torch.Tensor]) -> torch.Tensor | None:
        """Stack ``samples`` in the segment; ``None`` if torch would make something else of them."""
        first = samples[0]
        length = len(samples) * first.numel() * first.element_size()
        if self.segment is None or length < WORTH or not is_dense(first):
            return None
        dtype, shape = first.dtype, first.shape
        if not all(
            # For other samples, torch's result depends on their types, layouts and gradients.
            type(sample) is torch.Tensor
            and is_dense(sample)
            and sample.dtype is dtype
            and sample.shape == shape
            and sample.is_contiguous()
            and not sample.requires_grad
            for sample in samples
        ):
            return None
        start = self._used
        if start + length > self.segment.size:
            return None
        self._used = aligned(start + length)
        out = torch.frombuffer(self._view[start : start + length], dtype=dtype)
        return torch.stack(list(samples), out=out.view(len(samples), *shape))
