"""The connection between the main process and a worker: whole messages of any size."""

from __future__ import annotations

import itertools
import os
import resource
import socket
import threading
from collections.abc import Iterator

import pytest

from midepoch.transport.channel import CHUNK, Channel


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


def test_a_tail_is_the_end_of_its_message(ends: tuple[Channel, Channel]) -> None:
    for tail in (b" and more", bytearray(b" and more"), memoryview(b" and more"), b""):
        ends[0].send(b"one", tail=tail)
        assert received(ends[1], 1) == [b"one" + bytes(tail)]
    ends[0].send(b"", tail=b"more")
    assert received(ends[1], 1) == [b"more"]


def test_messages_that_were_read_by_one_call_come_one_by_one(
    ends: tuple[Channel, Channel],
) -> None:
    for message in (b"one", b"two", b"three"):
        ends[0].send(message)
    assert ends[1].receive()
    assert [ends[1].next() for _ in range(4)] == [b"one", b"two", b"three", None]


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
        descriptor = ends[1].descriptors.popleft()
        assert descriptor is not None
        os.write(descriptor, b"here")
        os.close(descriptor)
        assert os.read(reading, 9) == b"here"
        os.close(reading)


def test_a_descriptor_that_is_lost_keeps_its_place(ends: tuple[Channel, Channel]) -> None:
    pipes = [os.pipe() for _ in range(3)]
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for number, (reading, _) in enumerate(pipes):
        ends[0].send(b"with one", descriptor=reading)
        if number == 1:  # allow no more than are open: the next free number is too large
            free = os.dup(reading)
            os.close(free)
            resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
        try:
            assert ends[1].receive(wait=False)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert [one is None for one in ends[1].descriptors] == [False, True, False]
    assert received(ends[1], 3) == [b"with one"] * 3
    for one in (*ends[1].descriptors, *itertools.chain(*pipes)):
        if one is not None:
            os.close(one)
    ends[1].descriptors.clear()


def test_descriptors_that_nobody_took_are_closed(ends: tuple[Channel, Channel]) -> None:
    reading, writing = os.pipe()
    ends[0].send(b"with one", descriptor=writing)
    os.close(writing)
    assert ends[1].receive(wait=False)
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


def test_a_copy_that_is_closed_by_a_fork_ends_nothing(ends: tuple[Channel, Channel]) -> None:
    one, other = ends
    pid = os.fork()
    if not pid:
        one.close()
        os._exit(0)
    os.waitpid(pid, 0)
    other.send(b"still here")
    assert received(one, 1) == [b"still here"]


def test_a_message_to_an_end_that_is_closed_is_an_error(ends: tuple[Channel, Channel]) -> None:
    ends[0].close()
    with pytest.raises(OSError, match="Broken pipe"):
        ends[1].send(b"lost")
    assert not ends[1].receive()
