"""The torch settings of one thread, which a worker thread takes over from its caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch

__all__ = ["Ambient"]

_KINDS = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla", "maia", "privateuseone")
"""The devices for which torch may have autocast settings."""


@dataclass(frozen=True)
class Ambient:
    """Grad and inference mode, autocast, and the default devices of one thread.

    >>> with torch.no_grad():
    ...     ambient = Ambient.here()
    >>> with ambient.entered():
    ...     torch.is_grad_enabled()
    False
    """

    grad: bool
    inference: bool
    device: torch.device
    cuda: int | None
    """The current CUDA device, if the program uses CUDA."""
    autocast: tuple[tuple[str, bool, torch.dtype], ...]
    """For each kind of device: whether autocast is on, and its type."""
    cache: bool
    """Autocast keeps the tensors that it has cast."""

    @classmethod
    def here(cls) -> Ambient:
        """Return the settings of the calling thread."""
        kinds = [kind for kind in _KINDS if _has_autocast(kind)]
        return cls(
            grad=torch.is_grad_enabled(),
            inference=torch.is_inference_mode_enabled(),
            device=torch.get_default_device(),
            cuda=torch.cuda.current_device() if _uses_cuda() else None,
            autocast=tuple(
                (kind, torch.is_autocast_enabled(kind), torch.get_autocast_dtype(kind))
                for kind in kinds
            ),
            cache=torch.is_autocast_cache_enabled(),
        )

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Apply the settings in the calling thread, which has the defaults."""
        with ExitStack() as stack:
            stack.enter_context(torch.inference_mode(self.inference))
            stack.enter_context(torch.set_grad_enabled(self.grad))
            before = Ambient.here()
            if self.cuda is not None:
                torch.cuda.set_device(self.cuda)
            if self.device != before.device:
                stack.enter_context(self.device)
            self._cast()
            stack.callback(before._cast)
            yield

    def _cast(self) -> None:
        for kind, enabled, dtype in self.autocast:
            torch.set_autocast_enabled(kind, enabled)
            torch.set_autocast_dtype(kind, dtype)
        torch.set_autocast_cache_enabled(self.cache)
        torch.clear_autocast_cache()


def _has_autocast(kind: str) -> bool:
    try:
        return torch.amp.is_autocast_available(kind)
    except RuntimeError:  # a device that this version does not know
        return False


def _uses_cuda() -> bool:
    asked: bool = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]  # torch's
    return asked
