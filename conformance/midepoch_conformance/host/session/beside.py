"""Another loader in the same process: a program trains on one and validates on another one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["AnotherLoader", "of_another"]


def of_another(seed: int) -> dict[str, Any]:
    """Return the workload's fields of which another loader has its own: an order, and no faults."""
    return {"seed": seed + 1, "adopts": False, "fail_at": None, "fails_also": (), "log": None}


class AnotherLoader:
    """A loader of whose batches nobody takes a look: it shows what it does to the one beside it.

    Args:
        session: the adapter's session of the loader.
    """

    def __init__(self, session: Any) -> None:
        self.session = session
        self.epoch: Iterator[Any] | None = None

    def deliver(self, n: int) -> None:
        """Deliver ``n`` batches, of the next epoch where one ends."""
        for _ in range(n):
            if self.epoch is None:
                self.epoch = iter(self.session.epoch())
            if next(self.epoch, None) is None:
                self.epoch = None

    def close(self) -> None:
        """Close it as a session is closed."""
        self.epoch = None
        self.session.close()
