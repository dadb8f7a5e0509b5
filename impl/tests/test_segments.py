"""Segments: reused only once no object views them, and dropped when idle."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from midepoch.transport import segments
from midepoch.transport.segments import IDLE, SMALLEST, Leases, Pool, Returned, Segment


class Pair:
    """A worker's pool and the main process's leases, in one process."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.leases = Leases()

    def lend(self, size: int, value: int) -> tuple[int, memoryview]:
        segment, descriptor = self.pool.take(size)
        if descriptor is not None:
            self.leases.map(segment.number, segment.size, descriptor)
        segment.view[:size] = bytes([value]) * size
        return segment.number, self.leases.lend(segment.number)

    def settle(self) -> Returned:
        returned = self.leases.take_returned()
        self.pool.take_back(returned)
        self.leases.unmap(self.pool.dropped())
        return returned

    def mapped(self) -> int:
        return len(self.leases._mapped)


VIEWS: dict[str, Callable[[memoryview], Any]] = {
    "a memoryview": lambda block: block[10:20],
    "a cast memoryview": lambda block: block[16:32].cast("f"),
    "an array": lambda block: np.frombuffer(block, np.uint8),
    "a reshaped array": lambda block: np.frombuffer(block, np.float32).reshape(2, -1).T[3:5],
    "an array of an array": lambda block: np.asarray(np.frombuffer(block[8:40], np.int16)[2:])[1:],
    "an array on a buffer": lambda block: np.ndarray((2, 2), np.int32, buffer=block[64:80]),
    "a tensor": lambda block: torch.frombuffer(block, dtype=torch.float32),
    "a view of a tensor": lambda block: torch.frombuffer(block, dtype=torch.int16)[5:].view(-1, 1),
    "an array of a tensor": lambda block: torch.frombuffer(block, dtype=torch.int16).numpy()[4:],
    "a tensor of an array": lambda block: torch.from_numpy(np.frombuffer(block, np.int64)[1:]),
    "a storage": lambda block: torch.frombuffer(block, dtype=torch.uint8).untyped_storage(),
    "a capsule": lambda block: torch.utils.dlpack.to_dlpack(
        torch.frombuffer(block, dtype=torch.uint8)
    ),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=list(VIEWS))
def test_a_segment_is_returned_when_the_last_view_is_gone(view: Callable[..., Any]) -> None:
    pair = Pair()
    number, block = pair.lend(SMALLEST, 7)
    seen = view(block)
    del block
    gc.collect()
    assert pair.settle() == Returned()
    again, _ = pair.lend(SMALLEST, 8)
    assert again != number
    del seen
    gc.collect()
    assert number in pair.settle().usable


def test_the_segment_used_last_is_used_next() -> None:
    pair = Pair()
    lent = [pair.lend(SMALLEST, value) for value in range(3)]
    while lent:
        lent.pop(0)
        pair.settle()
    number, _ = pair.lend(10, 9)
    assert number == 3
    assert pair.mapped() == 3


def test_segments_that_are_not_needed_any_more_are_dropped_on_both_sides() -> None:
    pair = Pair()
    held = [pair.lend(size, 1) for size in (1, SMALLEST + 1, 40 * SMALLEST) for _ in range(4)]
    assert pair.mapped() == 12
    held.clear()
    for value in range(3 * IDLE):
        pair.settle()
        pair.lend(SMALLEST, value % 256)
    pair.settle()
    assert pair.mapped() == 1


def test_a_fork_lets_no_segment_in_its_sight_be_written_again() -> None:
    pair = Pair()
    number, block = pair.lend(SMALLEST, 5)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(writing)
        os.read(reading, 1)  # until the parent continues
        os._exit(0 if bytes(block[:SMALLEST]) == b"\x05" * SMALLEST else 1)
    del block
    assert pair.settle() == Returned((), (number,))
    for value in range(4):
        assert pair.lend(SMALLEST, value)[0] != number
        pair.settle()
    os.close(writing)
    os.close(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_is_lent_lives_on_when_all_else_is_closed() -> None:
    pair = Pair()
    _, block = pair.lend(SMALLEST, 6)
    tensor = torch.frombuffer(block, dtype=torch.uint8)
    del block
    pair.leases.close()
    del pair
    gc.collect()
    assert int(tensor.sum(dtype=torch.int64)) == 6 * SMALLEST


def test_the_consumer_may_hold_two_batches_of_any_size_and_more_up_to_a_limit() -> None:
    leases = Pair().leases
    assert [leases.hold(number, 100, 250) for number in (1, 2)] == [True, True]
    assert not leases.hold(3, 100, 250)
    assert leases.hold(3, 50, 250)


def test_where_there_is_no_memory_to_share_nothing_leaks(monkeypatch: Any) -> None:
    def full(descriptor: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(segments.os, "ftruncate", full)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="No space"):
        Pool().take(SMALLEST)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_segment_that_this_process_still_sees_is_not_used_again() -> None:
    pool = Pool()
    segment, descriptor = pool.take(SMALLEST)
    assert isinstance(segment, Segment)
    os.close(descriptor or -1)
    pool.put_back(segment, usable=False)
    assert pool.take_free(SMALLEST) is None
    assert pool.dropped() == (segment.number,)
