"""The two ends of a worker's connection, and what becomes of batches that cannot be received."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest
import sources
import torch
from connection import QUESTION, Connection

import midepoch
import midepoch.workers.process
from midepoch.lane.messages import Batch
from midepoch.transport import ends as transport
from midepoch.transport.channel import Channel
from midepoch.transport.ends import IN_MESSAGE

COUNT = 50_000


def test_a_task_arrives_as_it_was_sent(connection: Connection) -> None:
    assert connection.ask() == QUESTION


@pytest.mark.parametrize("size", [0, 1, IN_MESSAGE, IN_MESSAGE + 1, 10_000_000])
@pytest.mark.parametrize("kind", ["tensor", "bytes"])
def test_a_batch_arrives_whatever_its_size_and_kind(
    connection: Connection, size: int, kind: str
) -> None:
    tensor = torch.arange(size, dtype=torch.uint8)
    data = tensor if kind == "tensor" else bytes(tensor.numpy())
    reply, _ = connection.ship([data, "and more"])
    assert (reply.iteration, reply.slot) == (1, 2)
    assert isinstance(reply.outcome, Batch)
    assert (reply.outcome.samples, reply.outcome.last) == (7, True)
    got = reply.outcome.take()
    assert torch.equal(got[0], data) if kind == "tensor" else got[0] == data
    assert got[1] == "and more"


def test_a_batch_is_taken_once(connection: Connection) -> None:
    batch: Any = connection.ship("some")[0].outcome
    batch.take()
    with pytest.raises(RuntimeError, match="taken already"):
        batch.take()


def test_a_segment_comes_back_with_the_next_task(connection: Connection) -> None:
    numbers = []
    for _ in range(5):
        batch: Any = connection.ship(torch.ones(COUNT))[0].outcome
        numbers.append(batch.data._shipment.segment)
        batch.take()
        del batch
        connection.ask()
    assert numbers == [1] * 5
    assert connection.taken == [4 * COUNT // 64 * 64 + (64 if 4 * COUNT % 64 else 0)] * 5


def test_what_is_held_beyond_the_limit_is_copied_out(
    connection: Connection, monkeypatch: Any
) -> None:
    monkeypatch.setattr(transport, "HELD_BYTES", 5 * 4 * COUNT)
    held = []
    for number in range(20):
        batch: Any = connection.ship(torch.full((COUNT,), number))[0].outcome
        held.append(batch.take())
        del batch
        connection.ask()
    assert (
        len(connection.main._leases._lent) == 2
    )  # the two that may always be held: these are larger
    assert len(connection.main._leases._mapped) == 3
    for number, tensor in enumerate(held):
        assert (tensor == number).all()


def test_without_memory_to_share_batches_go_in_the_message(
    connection: Connection, monkeypatch: Any
) -> None:
    def full(descriptor: int, size: int) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("midepoch.transport.segments.Mapping", full)
    sender = torch.full((IN_MESSAGE,), 3.0)
    batch: Any = connection.ship(sender)[0].outcome
    assert batch.data._shipment.segment == 0
    assert torch.equal(batch.take(), sender)


class Large(sources.Plain):
    def __getitem__(self, index: int) -> Any:
        return torch.full((COUNT,), index)


def no_descriptors(times: int, monkeypatch: Any) -> None:
    """Let the main process be without descriptors so many times, as the system does it."""
    receive, left = Channel.receive, [times]

    def without(channel: Channel, *, wait: bool = True) -> bool:
        received = receive(channel, wait=wait)
        if channel.descriptors and left[0]:
            left[0] -= 1
            lost = channel.descriptors.pop()
            assert lost is not None
            os.close(lost)
            channel.descriptors.append(None)
        return received

    monkeypatch.setattr(Channel, "receive", without)


def test_a_batch_that_cannot_be_received_is_an_error_that_says_what_to_do(monkeypatch: Any) -> None:
    loader = midepoch.StatefulDataLoader(Large(6), batch_size=2, num_workers=1)
    no_descriptors(1, monkeypatch)
    batches = iter(loader)
    for _ in range(2):
        with pytest.raises(midepoch.errors.WorkerDiedError, match=r"open files \(ulimit -n\)"):
            next(batches)
    assert [int(batch[0, 0]) for batch in loader] == [0, 2, 4]


def test_a_batch_that_cannot_be_received_is_made_again_by_a_replacement(monkeypatch: Any) -> None:
    loader = midepoch.StatefulDataLoader(Large(6), batch_size=2, num_workers=1, worker_restarts=1)
    no_descriptors(1, monkeypatch)
    assert [int(batch[0, 0]) for batch in loader] == [0, 2, 4]


class Counted(Large):
    def __init__(self, path: Any) -> None:
        super().__init__(40)
        self.path = path

    def __getitem__(self, index: int) -> Any:
        (self.path / str(index)).touch()
        return torch.full((COUNT,), index)


def test_what_is_made_ahead_is_bounded_in_bytes(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(midepoch.workers.process, "BYTES_AHEAD", 3 * 4 * COUNT * 2)
    batches = iter(
        midepoch.StatefulDataLoader(
            Counted(tmp_path), batch_size=1, num_workers=1, prefetch_factor=30
        )
    )
    for number in range(30):
        assert int(next(batches)[0, 0]) == number
        # The one just delivered, and as many as the bytes allow or were asked for unknowingly.
        assert len(list(tmp_path.iterdir())) <= number + 1 + 3


def test_a_single_batch_may_be_larger_than_all_bounds(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(midepoch.workers.process, "BYTES_AHEAD", 10)
    monkeypatch.setattr(transport, "HELD_BYTES", 10)
    loader = midepoch.StatefulDataLoader(
        Counted(tmp_path), batch_size=1, num_workers=2, persistent_workers=True
    )
    for _ in range(2):
        kept = list(loader)
        assert [int(batch[0, 0]) for batch in kept] == list(range(40))
