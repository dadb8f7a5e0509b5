"""The connection between the main process and a worker: whole messages, whatever their size."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from midepoch.transport.channel import CHUNK, Channel


def refused(descriptor: int, size: int) -> None:
    raise OSError(errno.ENOMEM, "Cannot allocate memory")


@pytest.fixture(params=["in memory", "by the socket", "declined"])
def ends(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Channel, Channel]]:
    one, other = map(Channel, socket.socketpair())
    if request.param != "by the socket":
        if request.param == "declined":
            monkeypatch.setattr("midepoch.transport.channel.Mapping", refused)
        one.offer()
        assert other.receive()
        assert one.receive()
        assert one._shared is other._shared is (request.param == "in memory")
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
        if number == 1:  # no more than are open: the lowest one that is free is beyond
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


def offered(moment: float = 0.0) -> tuple[Channel, Channel]:
    one, other = (Channel(end, moment) for end in socket.socketpair())
    one.offer()
    return one, other


def connected(moment: float = 0.0) -> tuple[Channel, Channel]:
    """Return two ends whose messages go through memory."""
    one, other = offered(moment)
    assert other.receive()
    assert one.receive()
    assert one.shared
    return one, other


def close(*channels: Channel) -> None:
    for channel in channels:
        channel.close()


def test_what_is_sent_before_the_offer_is_answered_keeps_its_place() -> None:
    one, other = offered()
    one.send(b"early")
    assert received(other, 1) == [b"early"]
    other.send(b"in memory")  # the offer was taken, which the first end has not read yet
    one.send(b"still by the socket")
    assert received(one, 1) == [b"in memory"]
    one.send(b"in memory, too")
    assert received(other, 2) == [b"still by the socket", b"in memory, too"]
    close(one, other)


def test_messages_in_memory_take_no_system_call(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = connected()
    for channel in (one, other):
        channel._socket.setblocking(False)
    for number in range(1000):
        one.send(b"%d" % number, tail=bytes(300))
        assert received(other, 1) == [b"%d" % number + bytes(300)]
        other.send(b"back")
        assert received(one, 1) == [b"back"]
    for channel in (one, other):  # nothing is in the sockets
        with pytest.raises(BlockingIOError):
            channel.receive(wait=False)
    close(one, other)


@pytest.mark.parametrize("moment", [0.0, 0.5])
def test_who_waits_is_woken(moment: float) -> None:
    one, other = connected(moment)
    got: list[bytes] = []
    waiting = threading.Thread(target=lambda: [got.extend(received(other, 1)) for _ in range(100)])
    waiting.start()
    for number in range(100):
        one.send(b"%d" % number)
        until = time.monotonic() + 5
        while number % 10 and len(got) <= number and time.monotonic() < until:
            time.sleep(0.001)  # until the other waits again
    waiting.join(20)
    assert not waiting.is_alive()
    assert got == [b"%d" % number for number in range(100)]
    close(one, other)


def test_who_looks_needs_no_waking() -> None:
    one, other = connected(30.0)
    sender = threading.Timer(0.05, one.send, [b"soon"])
    sender.start()
    assert other.receive()
    assert other.next() == b"soon"
    with pytest.raises(BlockingIOError):  # nothing came through the socket
        other.receive(wait=False)
    sender.join()
    close(one, other)


def test_where_memory_cannot_be_used_all_goes_through_sockets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("mapping", "ring"):
        with monkeypatch.context() as patched:
            patched.setattr(f"midepoch.workers.{name}.AVAILABLE", False)
            one, other = offered()
        one.send(b"first")
        assert received(other, 1) == [b"first"]
        assert not one.shared
        close(one, other)


def test_a_waking_before_the_end_does_not_hide_it() -> None:
    one, other = connected()
    other.sleep()
    one.send(b"wake up")
    other.awake()
    one.close()
    assert not other.goes_on()
    other.close()


def test_an_end_that_reads_no_more_is_seen_by_who_sends() -> None:
    one, other = connected()
    assert other.goes_on()
    one.end()
    with pytest.raises(BrokenPipeError):
        other.send(b"lost")
    assert not other.goes_on()
    assert not other.receive()
    other.close()


def test_a_copy_that_is_closed_by_a_fork_ends_nothing() -> None:
    one, other = connected()
    pid = os.fork()
    if not pid:
        one.close()
        os._exit(0)
    os.waitpid(pid, 0)
    other.send(b"still here")
    assert received(one, 1) == [b"still here"]
    close(one, other)
