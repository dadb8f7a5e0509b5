"""``empty_rest="skip"``: a state of the last step continues with the next epoch at once."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sources
from histories import keep

import midepoch
from midepoch.errors import ArgumentError, StaleIteratorError

N, SIZE = 12, 4

pytestmark = pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning")

DATASETS = (*sources.MAPS, *sources.STREAMS)


def loader(dataset: Any, sampler: Any = None, **arguments: Any) -> Any:
    chosen = {"batch_size": SIZE, "seed": 5, "collate_fn": keep, "empty_rest": "skip", **arguments}
    if sampler is not None:
        chosen["sampler"] = sampler(dataset.n)
    return midepoch.StatefulDataLoader(dataset, **chosen)


def taken(made: Any, epoch: int, batches: int) -> dict[str, Any]:
    """Return the state after so many batches of an epoch, the end not asked for."""
    for _ in range(epoch):
        list(made)
    iterator = iter(made)
    list(itertools.islice(iterator, batches))
    state: dict[str, Any] = made.state_dict()
    return state


def histories() -> list[tuple[Any, Any]]:
    return [(d, None) for d in DATASETS] + [(sources.Plain, s) for s in sources.SAMPLERS]


@pytest.mark.parametrize("n", [N, N + 1])
@pytest.mark.parametrize(("kind", "sampler"), histories())
def test_the_next_epoch_follows_at_once(kind: Any, sampler: Any, n: int) -> None:
    whole = loader(kind(n), sampler)
    epochs = [list(whole) for _ in range(4)]
    last = len(epochs[1])
    for interval in (1, 5):
        make = {"snapshot_every_n_steps": interval}
        state = taken(loader(kind(n), sampler, **make), 1, last)
        assert state["position"]["epoch"] == 1
        other = loader(kind(n), sampler, **make)
        other.load_state_dict(state)
        iterator = iter(other)
        assert other.state_dict() == state  # until the first batch is asked for
        assert next(iterator) == epochs[2][0]
        position = other.state_dict()["position"]
        assert (position["epoch"], position["batches"]) == (2, 1)
        again = loader(kind(n), sampler, **make)
        again.load_state_dict(other.state_dict())
        assert list(iterator) == list(again) == epochs[2][1:]
        assert list(other) == list(again) == epochs[3]


@pytest.mark.parametrize("kind", [sources.Plain, sources.Counting, sources.Stream, sources.Passing])
@pytest.mark.parametrize("persistent", [False, True])
def test_with_workers(kind: Any, persistent: bool) -> None:
    execution = {"num_workers": 2, "persistent_workers": persistent}
    whole = loader(kind(N), **execution)
    epochs = [list(whole) for _ in range(3)]
    other = loader(kind(N), **execution, prefetch_next_epoch=persistent)
    other.load_state_dict(taken(loader(kind(N), **execution), 0, len(epochs[0])))
    assert [list(other), list(other)] == epochs[1:]


def test_a_rest_that_is_not_empty_and_an_epoch_that_is_are_delivered() -> None:
    whole = [[float(i)] for i in range(3)]
    for batches in range(4):
        made = loader([0.0, 1.0, 2.0], batch_size=1)
        made.load_state_dict(taken(loader([0.0, 1.0, 2.0], batch_size=1), 0, batches))
        assert list(made) == (whole[batches:] or whole)
    empty = loader([])
    empty.load_state_dict(taken(loader([]), 0, 0))
    assert list(empty) == []
    assert empty.state_dict()["position"]["epoch"] == 1
    live = loader([0.0, 1.0])
    assert [len(list(live)) for _ in range(3)] == [1, 1, 1]


def test_deliver_is_the_default() -> None:
    state = taken(loader(sources.Plain(N)), 0, 3)
    made = midepoch.StatefulDataLoader(sources.Plain(N), SIZE, collate_fn=keep)
    made.load_state_dict(state)
    assert [len(list(made)) for _ in range(2)] == [0, 3]
    with pytest.raises(ArgumentError, match="empty_rest should be one of"):
        loader([1], empty_rest="drop")


def test_rollover_goes_on_with_what_was_left_over() -> None:
    data = [float(i) for i in range(10)]
    made = loader(data, last_batch="rollover")
    made.load_state_dict(taken(loader(data, last_batch="rollover"), 0, 2))
    assert len(made) == 2
    iterator = iter(made)
    assert next(iterator) == [8.0, 9.0, 0.0, 1.0]
    assert len(iterator) == len(made) == 3
    assert made.state_dict()["position"]["carried"] == [8, 9]


def test_loads_breaks_and_newer_iterators() -> None:
    state = taken(loader(sources.Plain(N)), 0, 3)
    made = loader(sources.Plain(N))
    made.load_state_dict(state)
    first = iter(made)
    second = iter(made)  # nothing was asked of the first: the same position again
    assert len(list(second)) == 3
    assert made.state_dict()["position"]["epoch"] == 2
    assert list(first) == []  # another iterator went on in its place
    assert made.state_dict()["position"]["epoch"] == 2

    made.load_state_dict(state)
    stale = iter(made)
    made.load_state_dict(state)
    with pytest.raises(StaleIteratorError):
        next(stale)
    iterator = iter(made)
    next(iterator)
    assert made._iterator is not None
    iterator._shutdown_workers()
    with pytest.raises(StaleIteratorError):
        next(iterator)
    assert next(iter(made)) == next(iter(loaded_at(2)))


def loaded_at(epoch: int) -> Any:
    made = loader(sources.Plain(N))
    made.load_state_dict(taken(loader(sources.Plain(N)), epoch, 0))
    return made
