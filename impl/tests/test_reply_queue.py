"""``ReplyQueue``: from many threads to one reader."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from midepoch.workers.threads import ReplyQueue


@pytest.fixture
def often_switched() -> Iterator[None]:
    """Switch threads between any two instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("often_switched")
@pytest.mark.timeout(60)  # a lost wake-up would wait for ever
def test_every_answer_arrives_in_its_threads_order_and_no_wake_up_is_lost() -> None:
    replies: ReplyQueue[tuple[int, int]] = ReplyQueue()
    many = 3000

    def give(thread: int) -> None:
        for number in range(many):
            replies.put((thread, number))
            replies.wake()

    threads = [threading.Thread(target=give, args=(one,)) for one in range(3)]
    for thread in threads:
        thread.start()
    got: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for _ in range(3 * many):
        while (answer := replies.take()) is None:
            replies.wait(None)
        got[answer[0]].append(answer[1])
    for thread in threads:
        thread.join()
    assert all(numbers == list(range(many)) for numbers in got.values())
    assert replies.take() is None
    replies.close()


def test_a_wait_ends_by_itself() -> None:
    replies: ReplyQueue[int] = ReplyQueue()
    replies.wait(0.01)
    assert replies.take() is None
    replies.close()


def test_what_was_there_before_is_not_waited_for() -> None:
    replies: ReplyQueue[int] = ReplyQueue()
    replies.put(1)
    replies.wake()
    replies.wait(None)
    assert replies.take() == 1
    replies.close()


def test_it_is_closed_once_and_by_its_last_reference() -> None:
    replies: ReplyQueue[int] = ReplyQueue()
    pipe = replies._pipe
    replies.close()
    again = os.pipe()
    assert again == pipe  # the lowest numbers are taken first: else something else was closed
    replies.close()
    del replies
    os.fstat(again[0])
    for descriptor in again:
        os.close(descriptor)
    dropped: ReplyQueue[int] = ReplyQueue()
    pipe = dropped._pipe
    del dropped
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(pipe[0])
