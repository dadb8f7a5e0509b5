"""The queue in shared memory: order, room, marks, sleeping and waking."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midepoch.transport import ring as module
from midepoch.transport.mapping import Mapping, anonymous
from midepoch.transport.ring import LONGEST, SIZE, Ring


@pytest.fixture(params=[True, False], ids=["in order", "fenced"])
def ends(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Ring, Ring]:
    monkeypatch.setattr(module, "_IN_ORDER", request.param)
    memory = memoryview(bytearray(SIZE))
    return Ring(memory), Ring(memory)


def content(number: int, size: int) -> bytes:
    return bytes((number + index) % 251 for index in range(size))


SIZES = st.one_of(st.integers(1, 64), st.integers(1, LONGEST))


@settings(deadline=None, max_examples=60)
@given(
    steps=st.lists(st.one_of(SIZES, st.just(0), st.just(-1)), max_size=120), cut=st.integers(0, 9)
)
def test_what_is_put_is_got_in_order_whole_and_once(steps: list[int], cut: int) -> None:
    # Sizes are put, 0 is a mark, -1 gets one; what has no room is not put at all.
    memory = memoryview(bytearray(SIZE))
    sender, getter = Ring(memory), Ring(memory)
    expected: deque[bytes] = deque()
    for number, step in enumerate(steps):
        if step < 0:
            assert getter.get() == (expected.popleft() if expected else None)
        elif step == 0:
            sender.mark()
            expected.append(b"")
        else:
            message = content(number, step)
            at = min(cut, step)
            if sender.put(message[:at], memoryview(message)[at:]):
                expected.append(message)
            else:
                assert expected
        assert getter.ready is bool(expected)
    while expected:
        assert getter.get() == expected.popleft()
    assert getter.get() is None


def test_it_goes_round_at_every_place(ends: tuple[Ring, Ring]) -> None:
    sender, getter = ends
    for number in range(3000):
        message = content(number, 1 + number * 7 % 300)
        assert sender.put(message)
        assert getter.get() == message


def test_a_message_that_is_too_long_or_empty_is_not_taken(ends: tuple[Ring, Ring]) -> None:
    sender, getter = ends
    assert sender.put(bytes(LONGEST))
    assert not sender.put(bytes(LONGEST), b"1")
    assert not sender.put(b"")
    assert getter.get() == bytes(LONGEST)
    assert getter.get() is None


def test_full_is_full_until_something_is_got_and_marks_have_room(ends: tuple[Ring, Ring]) -> None:
    sender, getter = ends
    count = 0
    while sender.put(content(count, 1000)):
        count += 1
    assert 50 < count < 65
    for _ in range(500):
        sender.mark()
    assert getter.get() == content(0, 1000)
    for number in range(1, count):
        assert getter.get() == content(number, 1000)
    assert [getter.get() for _ in range(501)] == [b""] * 500 + [None]
    assert sender.put(b"again")
    assert getter.get() == b"again"


def test_more_marks_than_there_is_room_for_are_an_error(ends: tuple[Ring, Ring]) -> None:
    for _ in range(8192):
        ends[0].mark()
    with pytest.raises(OSError, match="does not read"):
        ends[0].mark()


def test_who_sleeps_is_woken_once(ends: tuple[Ring, Ring]) -> None:
    sender, getter = ends
    assert sender.put(b"one")
    assert not sender.to_wake()
    getter.get()
    for _ in range(3):
        getter.sleep()
        assert not getter.ready
        assert sender.put(b"two")
        assert [sender.to_wake() for _ in range(3)] == [True, False, False]
        assert getter.ready
        getter.awake()
        assert not sender.to_wake()
        assert getter.get() == b"two"


def test_a_closed_end_is_told_of(ends: tuple[Ring, Ring]) -> None:
    sender, getter = ends
    getter.close()
    assert sender.put(b"lost")
    with pytest.raises(BrokenPipeError):
        sender.to_wake()


def _echo(descriptor: int, count: int) -> None:
    memory = Mapping(descriptor, 2 * SIZE).view()
    incoming, outgoing = Ring(memory[:SIZE]), Ring(memory[SIZE:])
    for _ in range(count):
        while (message := incoming.get()) is None:
            time.sleep(0)
        while not outgoing.put(message):
            time.sleep(0)


@pytest.mark.parametrize("in_order", [True, False])
def test_two_processes_see_the_same(in_order: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_IN_ORDER", in_order and module._IN_ORDER)
    mapping, descriptor = anonymous(2 * SIZE)
    memory = mapping.view()
    outgoing, incoming = Ring(memory[:SIZE]), Ring(memory[SIZE:])
    drawn = random.Random(5)
    messages = [content(number, drawn.choice((8, 250, 9000))) for number in range(4000)]
    process = multiprocessing.get_context("fork").Process(
        target=_echo, args=(descriptor, len(messages)), daemon=True
    )
    process.start()
    sent, got = 0, []
    until = time.monotonic() + 60
    while len(got) < len(messages) and time.monotonic() < until:
        while sent < len(messages) and outgoing.put(messages[sent]):
            sent += 1
        message = incoming.get()
        if message is None:
            time.sleep(0)
        else:
            got.append(message)
    process.join(5)
    process.close()
    os.close(descriptor)
    assert got == messages
