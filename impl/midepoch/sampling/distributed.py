"""A rank's share of the samples, with a position."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from torch.utils.data import Dataset
from torch.utils.data.distributed import DistributedSampler

from midepoch.errors import StateFormatError, show

__all__ = ["StatefulDistributedSampler"]


class StatefulDistributedSampler(DistributedSampler[Any]):
    """torch's ``DistributedSampler`` with ``state_dict`` and ``load_state_dict``.

    It replaces torchdata's sampler of this name: the arguments, indices and states are the same.
    In a ``midepoch.StatefulDataLoader`` torch's own ``DistributedSampler`` resumes exactly, too,
    by drawing its indices again. This one skips to its position, and can be saved without a
    loader. Call ``set_epoch`` before each epoch, as with torch's sampler; a
    loader's state records the epoch and restores it.

    Args:
        dataset: anything with a length.
        num_replicas: the number of ranks; by default that of the process group.
        rank: the rank of this process; by default that in the process group.
        shuffle: a new order in each epoch, from ``seed`` and the epoch.
        seed: the same on all ranks.
        drop_last: drop the last samples if the ranks cannot share them evenly; by default the
            first ones are repeated instead.

    >>> sampler = StatefulDistributedSampler(range(10), num_replicas=2, rank=1, shuffle=False)
    >>> indices = iter(sampler)
    >>> next(indices), next(indices), sampler.state_dict()
    (1, 3, {'yielded': 2})
    >>> again = StatefulDistributedSampler(range(10), num_replicas=2, rank=1, shuffle=False)
    >>> again.load_state_dict({"yielded": 2})
    >>> list(again), list(again)
    ([5, 7, 9], [1, 3, 5, 7, 9])
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset, num_replicas, rank, shuffle, seed, drop_last)
        self.yielded = 0
        """Indices given in the present pass; 0 after its end."""
        self.next_yielded: int | None = None
        """The start of the next pass, after a load."""

    def __iter__(self) -> Iterator[int]:
        start, self.next_yielded = self.next_yielded or 0, None
        self.yielded = start
        for index in islice(super().__iter__(), start, None):
            self.yielded += 1
            yield index
        self.yielded = 0

    def state_dict(self) -> dict[str, Any]:
        """Return the position: the indices given since the pass began, or the loaded one."""
        loaded = self.next_yielded
        return {"yielded": self.yielded if loaded is None else loaded}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next pass start at a position.

        Raises:
            StateFormatError: there is no count in it, or one beyond the rank's share.
        """
        yielded = state_dict.get("yielded") if isinstance(state_dict, dict) else None
        if type(yielded) is not int or not 0 <= yielded <= self.num_samples:
            raise StateFormatError(
                f"expected 0 to {self.num_samples} (the rank's share of the samples), got "
                f"{show(yielded)}; the state is of another dataset or number of replicas",
                "$.yielded",
            )
        self.next_yielded = yielded
