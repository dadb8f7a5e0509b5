"""The three global random streams: seeded for a session, compared around an action."""

from __future__ import annotations

import random
import sys
from typing import Any

__all__ = ["Streams", "seed_streams"]


def seed_streams(seed: int) -> None:
    """Seed ``random`` and, where they are loaded, ``numpy.random`` and ``torch``.

    Each has a Gaussian in store afterwards: it is the part of a stream that is easily lost.
    """
    random.seed(seed)
    random.gauss(0, 1)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        numpy.random.seed(seed)
        numpy.random.standard_normal()
    if torch is not None:
        torch.default_generator.manual_seed(seed)
        torch.randn(())


class Streams:
    """The streams as they were when this object was made."""

    def __init__(self) -> None:
        self.python = random.getstate()
        self.numpy = _numpy_state()
        self.torch = _torch_state()

    def moved(self) -> bool:
        """Return whether one of them has been drawn from or seeded since."""
        return (
            self.python != random.getstate()
            or self.numpy not in (None, _numpy_state())
            or self.torch not in (None, _torch_state())
        )


def _numpy_state() -> Any:
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    name, keys, *rest = numpy.random.get_state()
    return (name, keys.tobytes(), *rest)


def _torch_state() -> Any:
    torch = sys.modules.get("torch")
    return None if torch is None else torch.default_generator.get_state().numpy().tobytes()
