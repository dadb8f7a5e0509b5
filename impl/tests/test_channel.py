"""The connection between the main process and a worker: whole messages, whatever their size."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

import pytest

from midepoch.workers.channel import CHUNK, Channel


@pytest.fixture
def ends() -> Iterator[tuple[Channel, Channel]]:
    one, other = map(Channel, socket.socketpair())
    yield one, other
    one.close()
    other.close()


def received(channel: Channel, count: int) -> list[bytes]:
    got: list[bytes] = []
    while len(got) < count:
        message = channel.next()
        if message is not None:
            got.append(message)
        elif not channel.receive():
            break
    return got


SIZES = [0, 1, 7, 8, 9, CHUNK - 9, CHUNK - 8, CHUNK, CHUNK + 1, 3 * CHUNK, 5_000_000, 2]


def test_messages_of_all_sizes_arrive_whole_and_in_order(ends: tuple[Channel, Channel]) -> None:
    messages = [bytes([number]) * size for number, size in enumerate(SIZES)]
    sender = threading.Thread(target=lambda: [ends[0].send(message) for message in messages])
    sender.start()
    assert received(ends[1], len(messages)) == messages
    sender.join()


def test_messages_sent_together_are_read_by_one_call(ends: tuple[Channel, Channel]) -> None:
    ends[0].send(b"one", b"two", b"three", tail=bytearray(b" and a tail"))
    assert ends[1].receive()
    assert [ends[1].next() for _ in range(4)] == [b"one", b"two", b"three and a tail", None]


def test_a_message_that_arrives_byte_by_byte_is_one_message() -> None:
    raw, end = socket.socketpair()
    channel = Channel(end)
    whole, other = socket.socketpair()
    Channel(whole).send(b"slow")
    for byte in other.recv(1000):
        assert channel.next() is None
        raw.send(bytes([byte]))
        assert channel.receive(wait=False)
    assert channel.next() == b"slow"
    for one in (raw, end, whole, other):
        one.close()


def test_descriptors_arrive_with_their_messages(ends: tuple[Channel, Channel]) -> None:
    pipes = [os.pipe() for _ in range(20)]
    for number, (_, writing) in enumerate(pipes):
        ends[0].send(b"before")
        ends[0].send(str(number).encode(), descriptor=writing)
        os.close(writing)
    messages = received(ends[1], 40)
    assert messages[1::2] == [str(number).encode() for number in range(20)]
    for reading, _ in pipes:
        os.write(ends[1].descriptors[0], b"here")
        os.close(ends[1].descriptors.popleft())
        assert os.read(reading, 9) == b"here"
        os.close(reading)


def test_descriptors_that_nobody_took_are_closed(ends: tuple[Channel, Channel]) -> None:
    reading, writing = os.pipe()
    ends[0].send(b"with one", descriptor=writing)
    os.close(writing)
    assert ends[1].receive()
    ends[1].close()
    assert os.read(reading, 1) == b""  # no writer is left
    os.close(reading)


def test_the_end_is_seen_also_in_the_middle_of_a_message(ends: tuple[Channel, Channel]) -> None:
    with pytest.raises(BlockingIOError):
        ends[1].receive(wait=False)
    raw, end = socket.socketpair()
    channel = Channel(end)
    raw.send((100).to_bytes(8, "little") + b"not all")
    raw.close()
    assert channel.receive()
    assert channel.next() is None
    assert not channel.receive()
    channel.close()
