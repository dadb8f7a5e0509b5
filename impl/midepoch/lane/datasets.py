"""Checks that an object can be a dataset, as in torch's loader, with a clear error if not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset

from midepoch.errors import ArgumentError, show

__all__ = ["check_dataset"]

_EXPECTED = (
    "dataset should be map-style (a list, a tuple, an array, a tensor, a torch Dataset: anything "
    "with __getitem__ and __len__) or a torch IterableDataset"
)


def check_dataset(dataset: Any, *, keyed: bool) -> None:
    """Raise ArgumentError for an object that is no dataset, before a batch fails on it.

    Lists, tuples, arrays, tensors and any other object with ``__getitem__`` and ``__len__`` are
    taken as they are; only a dict must have the keys that will be asked for. ``keyed``: a sampler
    gives the keys.

    >>> check_dataset([3, 1, 4], keyed=False)
    >>> check_dataset({"a": 1}, keyed=True)
    >>> check_dataset({3, 1, 4}, keyed=False)
    Traceback (most recent call last):
    midepoch.errors.ArgumentError: dataset should be map-style ... got a set; list(...) it first...
    """
    if isinstance(dataset, IterableDataset):
        return
    fault = _fault(dataset, keyed=keyed)
    if fault is not None:
        raise ArgumentError(f"{_EXPECTED}; got {fault}")


def _fault(dataset: Any, *, keyed: bool) -> str | None:
    if isinstance(dataset, str):
        return f"the text {show(dataset)}; a path has to be opened and read first"
    if isinstance(dataset, (np.ndarray, np.generic, torch.Tensor)):
        return f"{show(dataset)} of no dimension, which has no rows" if not dataset.ndim else None
    if isinstance(dataset, Mapping):
        # torch's loader takes one whose keys happen to be the indices.
        if keyed or all(index in dataset for index in range(len(dataset))):
            return None
        return (
            f"{show(dataset)} whose keys are not 0 to {len(dataset) - 1}; give its keys as "
            "sampler=, or pass list(dataset.items())"
        )
    if hasattr(type(dataset), "__getitem__") or hasattr(dataset, "__getitems__"):
        return None
    if isinstance(dataset, type):
        return f"the class {dataset.__qualname__}; pass an instance of it"
    if hasattr(dataset, "__next__"):
        return (
            f"{show(dataset)}, which can be read once only; list(...) it first, or wrap it in an "
            "IterableDataset whose __iter__ makes a new one for each epoch"
        )
    if hasattr(dataset, "__iter__"):
        return f"{show(dataset)}; list(...) it first, or wrap it in an IterableDataset"
    return show(dataset)
