"""How a batch crosses from process to process: pickled, in the pipe.

Dense CPU tensors are written as their bytes; torch's own reductions would pass a file
descriptor for each of them.
"""

from __future__ import annotations

import io
import pickle
from dataclasses import dataclass
from typing import Any

import torch

from midepoch.messages import Batch

__all__ = ["PackedBatch", "pack"]


@dataclass(frozen=True, slots=True)
class PackedBatch(Batch):
    """A batch as bytes."""

    def take(self) -> Any:
        """Return the batch; what cannot be read here raises here."""
        return pickle.loads(self.data)


def pack(batch: Batch) -> PackedBatch:
    """Return ``batch`` in the form in which it crosses; what cannot be pickled raises."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(batch.data)
    return PackedBatch(buffer.getvalue(), batch.samples, batch.last)


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is not torch.Tensor or not _plain(obj):
            return NotImplemented
        data: Any = obj.reshape(-1).view(torch.uint8).numpy()
        return _rebuild, (pickle.PickleBuffer(data), obj.dtype, tuple(obj.shape))


def _plain(tensor: torch.Tensor) -> bool:
    return (
        tensor.layout is torch.strided
        and tensor.device.type == "cpu"
        and not tensor.requires_grad
        and not tensor.is_quantized
        and not tensor.is_conj()
        and not tensor.is_neg()
        and tensor.numel() > 0
        and tensor.is_contiguous()
        # A view into a larger tensor would lose what it shares with its neighbours.
        and tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    )


def _rebuild(data: bytearray, dtype: torch.dtype, shape: tuple[int, ...]) -> torch.Tensor:
    return torch.frombuffer(data, dtype=dtype).reshape(shape)
