"""``batch_info()``: the batch that dataset code makes now, with its own random generators.

The generators depend on the batch's place alone (SEED-7), in every kind of worker. In threads
they are the only private streams, because all threads share the global ones.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType

import numpy as np
import torch

from midepoch.errors import OutsideBatchError

__all__ = ["BatchInfo", "BatchScope", "batch_info", "renew"]


@dataclass(frozen=True)
class BatchInfo:
    """The place of a batch, and the random generators that are its own (SEED-7).

    >>> info = BatchInfo(epoch=2, index=5, lane=0, seed=4247642575230746406)
    >>> round(float(info.numpy.random()), 6), round(float(torch.rand((), generator=info.torch)), 6)
    (0.160993, 0.874185)
    """

    epoch: int
    """The epoch, from 0."""
    index: int
    """Map-style: the batch's index in the epoch; iterable: its ordinal among its lane's batches."""
    lane: int
    """The lane that makes the batch; 0 if the plan has no lanes."""
    seed: int
    """63 bits, of the fourth word of the batch's seeds; both generators are made from it."""
    place: int | None = None
    """With ``ranks``: the sample's place in the epoch's order, from 0. The generators are the
    sample's own then; in ``collate_fn`` the place of the first sample, and its rank's own."""

    @cached_property
    def numpy(self) -> np.random.Generator:
        """The batch's own NumPy generator, made at the first use: ``PCG64(seed)``."""
        return np.random.Generator(np.random.PCG64(self.seed))

    @cached_property
    def torch(self) -> torch.Generator:
        """The batch's own CPU generator, made at the first use: ``manual_seed(seed)``."""
        return torch.Generator("cpu").manual_seed(self.seed)


class BatchScope:
    """Inside this context ``batch_info()`` describes one batch, made by ``make`` at first use.

    ``None`` hides an outer batch: a lane's code has no batch outside of one.
    """

    __slots__ = ("_before", "info", "make")

    def __init__(self, make: Callable[[], BatchInfo] | None) -> None:
        self.make = make
        self.info: BatchInfo | None = None

    def __enter__(self) -> None:
        self._before = _current.scope  # a dataset may iterate a loader of its own
        _current.scope = self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _current.scope = self._before


class _Current(threading.local):
    """The batch that this thread's code makes."""

    scope = BatchScope(None)


_current = _Current()


def renew() -> None:
    """Restart the batch, with new generators."""
    _current.scope.info = None


def batch_info() -> BatchInfo:
    """Return which batch is being made, with random generators of its own (SEED-7).

    Call it in the code of a dataset, of its iterator or in ``collate_fn``, in any kind of
    worker. Within one batch every call returns the same object, so its generators continue.
    Their numbers are the same under any execution and after any resume.

    Raises:
        OutsideBatchError: no batch is being made here.

    >>> from midepoch import StatefulDataLoader
    >>> def draw(samples):
    ...     return samples, int(batch_info().numpy.integers(100))
    >>> list(StatefulDataLoader([1, 2, 3], batch_size=2, collate_fn=draw, seed=0))
    [([1, 2], 15), ([3], 18)]
    """
    scope = _current.scope
    if scope.info is None:
        if scope.make is None:
            raise OutsideBatchError(
                "batch_info() was called where no batch is being made; call it in the dataset's "
                "__getitem__ or __getitems__, in the iterator of an iterable dataset or in "
                "collate_fn, in the thread that the loader runs them in (not in worker_init_fn, "
                "in __iter__ before the first sample, in a sampler, or outside the loader)"
            )
        scope.info = scope.make()
    return scope.info
