"""The datasets that are measured: the same object classes for every contender."""

from __future__ import annotations

import random
import resource
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import interpolate
from torch.utils.data import Dataset, IterableDataset, get_worker_info

__all__ = [
    "BATCH_SIZE",
    "ENDLESS",
    "Busy",
    "Cheap",
    "Faults",
    "Indices",
    "Pictures",
    "Stateful",
    "Stream",
    "made",
]

BATCH_SIZE = 8
"""The samples of a batch, everywhere but for the orders."""

ENDLESS = 10**9
"""The samples of a dataset whose epoch does not end while it is measured."""

_POOL, _PICTURES = 64, 16


class Samples(Dataset[Any]):
    """A map-style dataset of a given length."""

    def __init__(self, n: int = ENDLESS) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n


class Cheap(Samples):
    """Delivers prepared samples: ``k`` tensors and ``total`` bytes a batch.

    >>> [tuple(part.shape) for part in Cheap(total=1024, k=2)[0]]
    [(16,), (16,)]
    """

    def __init__(self, total: int, k: int = 1, n: int = ENDLESS) -> None:
        super().__init__(n)
        width = max(1, total // (BATCH_SIZE * k * 4))
        # Few large samples: the measurement is not about the speed of memory.
        pool = min(_POOL, max(BATCH_SIZE, (4 << 20) // max(1, width * k * 4)))
        self.samples = [_parts(k, width, float(i)) for i in range(pool)]

    def __getitem__(self, i: int) -> Any:
        return self.samples[i % len(self.samples)]


def _parts(k: int, width: int, value: float) -> Any:
    parts = tuple(torch.full((width,), value) for _ in range(k))
    return parts[0] if k == 1 else parts


class Busy(Samples):
    """Computes for a number of seconds a batch, calibrated once: equal steps for all contenders."""

    def __init__(self, seconds: float, n: int = ENDLESS) -> None:
        super().__init__(n)
        self.steps = 1000
        taken = min(self._timed() for _ in range(5))
        self.steps = max(1, round(self.steps * seconds / BATCH_SIZE / taken))
        self.sample = torch.zeros(32)

    def _timed(self) -> float:
        start = time.thread_time()
        self._work()
        return time.thread_time() - start

    def _work(self) -> None:
        total = 0
        for step in range(self.steps):
            total += step

    def __getitem__(self, i: int) -> torch.Tensor:
        self._work()
        return self.sample


class Pictures(Samples):
    """Decodes and augments a picture: inflate, crop, flip, resize, scale.

    Args:
        side: of the stored picture.
        out: of the tensor that is delivered.
    """

    def __init__(self, side: int, out: int, n: int = ENDLESS) -> None:
        super().__init__(n)
        self.side, self.out = side, out
        drawn = np.random.default_rng(0)
        # Steps between pixels are small, as in a photograph, so it compresses about as well.
        steps = drawn.integers(0, 8, (_PICTURES, side, side, 3), np.uint8)
        self.packed = [zlib.compress(picture.tobytes()) for picture in steps.cumsum(1, np.uint8)]

    def __getitem__(self, i: int) -> torch.Tensor:
        packed = self.packed[i % _PICTURES]
        side, cut = self.side, self.side // 8
        picture = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(side, side, 3)
        top, left = random.randrange(cut), random.randrange(cut)
        picture = picture[top : top + side - cut, left : left + side - cut]
        if random.random() < 0.5:
            picture = picture[:, ::-1]
        pixels = torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1))).float()
        size = (self.out, self.out)
        resized = interpolate(pixels[None], size, mode="bilinear", antialias=True)[0]
        return resized.div_(255).sub_(0.5).div_(0.25)


class Faults(Samples):
    """Delivers prepared samples, and the number of page faults of its process so far."""

    def __init__(self, total: int, n: int = ENDLESS) -> None:
        super().__init__(n)
        self.sample = torch.zeros(max(1, total // (BATCH_SIZE * 4)))

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        return self.sample, resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class Indices(Samples):
    """Delivers the requested indices: a batch is the list itself."""

    def __getitem__(self, i: int) -> int:
        return i

    def __getitems__(self, indices: list[int]) -> list[int]:
        return indices


class Stream(IterableDataset[Any]):
    """An iterable without a state, over the samples of a map-style dataset."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        return map(self.samples.__getitem__, range(start, len(self.samples), step))


class Stateful(IterableDataset[Any]):
    """An iterable with a state: its position, and ``size`` bytes beside it."""

    def __init__(self, samples: Samples, size: int) -> None:
        self.samples = samples
        self.rest = "x" * size
        self.position = 0

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        while start + self.position * step < len(self.samples):
            self.position += 1
            yield self.samples[start + (self.position - 1) * step]

    def state_dict(self) -> dict[str, Any]:
        """Return the position and the bytes beside it."""
        return {"position": self.position, "rest": self.rest}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore a state."""
        self.position, self.rest = state["position"], state["rest"]


def made(parameters: Mapping[str, Any]) -> Any:
    """Return the dataset that a case's parameters name."""
    n = parameters.get("n", ENDLESS)
    data = parameters["data"]
    if data == "cheap":
        return Cheap(parameters["total"], parameters["k"], n)
    if data == "busy":
        return Busy(parameters["seconds"], n)
    if data == "pictures":
        return Pictures(parameters["side"], parameters["out"], n)
    if data == "faults":
        return Faults(parameters["total"], n)
    return Stateful(Cheap(parameters["total"], 1, n), parameters["size"])
