"""The batches of one epoch: the protocol of an order, and the built-in, computed orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from midepoch.format.parts import SamplerState
from midepoch.format.permutation import BLOCK, Permutation
from midepoch.format.plan import Tail

__all__ = ["BuiltInOrder", "DealtOrder", "Order", "OrderState", "SharedOrder", "Step"]

FIRST_BLOCK = 256
"""Indices computed at once for the first batch after a resume; later blocks are larger."""


# Not frozen, as the messages are not: one is made for each batch.
@dataclass(slots=True)
class Step:
    """One batch of an order."""

    index: int
    keys: Any
    """The dataset's keys: a list with automatic batching, else one key."""
    samples: int
    digest: str | None
    error: Exception | None = None
    """The sampler raised this in place of the batch."""
    place: int | None = None
    """Under ranks: the place of the first of these keys in the epoch's order. ``samples`` are those
    of all ranks then."""


class OrderState(NamedTuple):
    """The state that restores an order, beside the number of batches."""

    sampler: SamplerState | None
    """``None`` for the built-in orders."""
    carried: tuple[Any, ...] | None
    """``None`` without rollover; see ``Position.carried``."""


class Order(Protocol):
    """The batches of one epoch, from some position on."""

    def draw(self) -> Step | None:
        """Return the next batch, or ``None`` at the end."""
        ...

    def state(self, batches: int, at_most: int) -> OrderState:
        """Return the state that restores the order at ``batches``, or at ``at_most`` or before."""
        ...

    def drop_snapshots(self, at_most: int) -> None:
        """Drop the snapshots that are not needed after ``at_most``."""
        ...

    def rewind_to(self, batches: int, *, disturbed: bool) -> None:
        """Rewind the sampler to ``batches``: later draws were never delivered.

        ``disturbed``: other code has used the sampler since.
        """
        ...

    def next_epoch_state(self, batches: int, *, ended: bool) -> OrderState:
        """Return the next epoch's first state, if this epoch is left after ``batches``."""
        ...


class BuiltInOrder:
    """Sequential or shuffled indices of ``range(length)``: the position is nearly the whole state.

    ``place`` is where the first batch begins, if the batches before it had another size.

    Under rollover ``carried`` comes before the order's own indices, and indices that do not fill
    a batch are carried into the next epoch (EPOCH-6).

    >>> order = BuiltInOrder(5, None, batch_size=2, tail="keep", start=1)
    >>> [order.draw().keys for _ in range(2)], order.draw()
    ([[2, 3], [4]], None)
    >>> order = BuiltInOrder(4, None, batch_size=2, tail="rollover", start=0, carried=[9])
    >>> [order.draw().keys for _ in range(2)], order.draw()
    ([[9, 0], [1, 2]], None)
    >>> order.next_epoch_state(2, ended=True).carried
    (3,)
    """

    def __init__(
        self,
        length: int,
        key: int | None,
        *,
        batch_size: int | None,
        tail: Tail,
        start: int,
        place: int | None = None,
        carried: Sequence[int] | None = None,
    ) -> None:
        self._length = length
        self._permutation = None if key is None else Permutation(length, key)
        self._batch_size = batch_size
        self._size = batch_size or 1
        self._carried = None if carried is None else list(carried)
        self._shift = len(carried or ())
        self._total = self._shift + length
        self._end = self._total
        self._index = start
        self._place = start * self._size if place is None else place
        if tail != "keep":
            self._end = self._total - (self._total - self._place) % self._size
        self._block: list[int] = []
        self._block_start = 0
        self._block_size = FIRST_BLOCK

    def draw(self) -> Step | None:
        """See ``Order.draw``."""
        found = self._advance()
        if found is None:
            return None
        indices = self._indices(*found)
        keys = indices if self._batch_size else indices[0]
        return Step(self._index - 1, keys, len(indices), None)

    def _advance(self) -> tuple[int, int] | None:
        """Pass a batch, and return the places where it begins and ends."""
        start = self._place
        if start >= self._end:
            return None
        self._index, self._place = self._index + 1, min(start + self._size, self._end)
        return start, self._place

    def _indices(self, start: int, stop: int) -> list[int]:
        """Return the carried indices and then the order's own, by their common position."""
        shift = self._shift
        if start >= shift:
            return self._own(start - shift, stop - shift)
        head = (self._carried or [])[start:stop]
        return head if stop <= shift else head + self._own(0, stop - shift)

    def _own(self, start: int, stop: int) -> list[int]:
        if self._permutation is None:
            return list(range(start, stop))
        low = self._block_start
        if not low <= start <= stop <= low + len(self._block):
            self._block_start = low = start
            end = min(self._length, max(stop, start + self._block_size))
            self._block = self._permutation.indices(start, end)
            self._block_size = min(BLOCK, 4 * self._block_size)
        return self._block[start - low : stop - low]

    def state(self, batches: int, at_most: int) -> OrderState:
        """See ``Order.state``."""
        return OrderState(None, None if self._carried is None else tuple(self._carried))

    def drop_snapshots(self, at_most: int) -> None:
        """See ``Order.drop_snapshots``."""

    def rewind_to(self, batches: int, *, disturbed: bool) -> None:
        """See ``Order.rewind_to``."""

    def next_epoch_state(self, batches: int, *, ended: bool) -> OrderState:
        """See ``Order.next_epoch_state``."""
        if self._carried is None:
            return OrderState(None, None)
        return OrderState(None, tuple(self._indices(self._end, self._total)) if ended else ())


class DealtOrder(BuiltInOrder):
    """The batches of one of several ranks to which lanes are dealt: each ``world``-th (RANK-12).

    Their indices count within the rank, and so does ``start``.

    >>> order = DealtOrder(7, None, rank=1, world=2, batch_size=2, tail="keep", start=0)
    >>> [(step.index, step.keys) for step in (order.draw(), order.draw())], order.draw()
    ([(0, [2, 3]), (1, [6])], None)
    """

    def __init__(
        self, length: int, key: int | None, *, rank: int, world: int, start: int, **options: Any
    ):
        super().__init__(length, key, start=rank + start * world, **options)
        self._index, self._skipped = start, (world - 1) * self._size

    def _advance(self) -> tuple[int, int] | None:
        found = super()._advance()
        self._place += self._skipped
        return found


class SharedOrder(BuiltInOrder):
    """The share of one of several ranks: a contiguous part of each step.

    An epoch's last step may have fewer samples than ranks need, each as many as the others. The
    epoch's first samples fill it up, at places after its last one (RANK-6).

    >>> order = SharedOrder(5, None, rank=1, world=2, batch_size=4, tail="keep", start=0)
    >>> [(step.keys, step.place, step.samples) for step in (order.draw(), order.draw())]
    [([2, 3], 2, 4), ([0], 5, 1)]
    """

    def __init__(self, length: int, key: int | None, *, rank: int, world: int, **options: Any):
        super().__init__(length, key, **options)
        self._rank, self._world = rank, world

    def draw(self) -> Step | None:
        """See ``Order.draw``."""
        found = self._advance()
        if found is None:
            return None
        start, stop = found
        size = -(-(stop - start) // self._world)
        place = start + self._rank * size
        keys = self._indices(min(place, stop), min(place + size, stop))
        while len(keys) < size:
            behind = (place + len(keys) - stop) % self._total
            keys += self._indices(behind, min(behind + size - len(keys), self._total))
        return Step(self._index - 1, keys, stop - start, None, place=place)
