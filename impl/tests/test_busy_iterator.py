"""One iterator that two threads use: a typed error for the second one, and nothing changes."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import sources
from histories import keep

from midepoch import StatefulDataLoader
from midepoch.errors import BusyIteratorError

N = 5


class Gated(sources.Plain):
    """Row 1 comes once the gate is open; a second pass is not held up."""

    def __init__(self) -> None:
        super().__init__(N)
        self.gate = threading.Event()

    def __getitem__(self, index: int) -> int:
        if index == 1:
            assert self.gate.wait(60)
        return index


ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"num_workers": 1, "worker_type": "thread"},
]


def loader(dataset: Any, **arguments: Any) -> Any:
    return StatefulDataLoader(dataset, collate_fn=keep, seed=1, **arguments)


@pytest.mark.parametrize("skips", [False, True])
@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_second_thread_is_an_error_and_changes_nothing(
    arguments: dict[str, Any], skips: bool
) -> None:
    dataset = Gated()
    made = loader(dataset, **arguments, empty_rest="skip" if skips else "deliver")
    state = made.state_dict()
    state["position"].update(batches=1, samples=1)
    made.load_state_dict(state)
    batches = iter(made)
    told: list[Any] = []
    first = threading.Thread(target=lambda: told.append(next(batches)))
    first.start()
    while not batches._turn.taken:
        time.sleep(0.001)
    before = made.state_dict()
    for _ in range(3):
        with pytest.raises(BusyIteratorError, match="give each thread a loader of its own"):
            next(batches)
    assert made.state_dict() == before
    dataset.gate.set()
    first.join()
    assert sorted([*told, *batches]) == [[1], [2], [3], [4]]


def test_code_of_a_batch_cannot_ask_for_the_next_one() -> None:
    class Nested(sources.Plain):
        batches: Any = None

        def __getitem__(self, index: int) -> int:
            if index == 1:
                next(self.batches)
            return index

    dataset = Nested(4)
    dataset.batches = iter(loader(dataset))
    batches = dataset.batches
    assert next(batches) == [0]
    with pytest.raises(BusyIteratorError):
        next(batches)
    assert list(batches) == [[2], [3]]
    dataset.batches = None


def test_many_threads_share_an_iterator_between_them_by_trying_again() -> None:
    batches = iter(loader(sources.Plain(300), num_workers=1, worker_type="thread"))
    told: list[Any] = []

    def draw() -> None:
        while True:
            try:
                told.append(next(batches))
            except BusyIteratorError:
                continue
            except StopIteration:
                return

    threads = [threading.Thread(target=draw) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = sorted(batch[0][0] for batch in told)
    assert rows == list(range(300))
